/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Points a loaded library's references to functions somewhere else. References are in its procedure
 * linkage table, its global offset table and its vtables: every place whose relocation names the
 * symbol. After the undoing nothing is left of it. The caller lets one thread at a time do this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One function to be called instead of another. */
typedef struct td_relocation {
  const char *library; /* part of the file's name: "libtorch_cpu.so", "" for the program itself;
                        * a NULL ends a list */
  const char *symbol;  /* as mangled; a name that begins with it will do */
  void *hook;
  bool yields;     /* td_relocations_pause puts back what was there */
  bool whole;      /* the symbol is the whole name */
  void **original; /* gets what was at the first of these places; NULL: nobody asks */
} td_relocation;

typedef struct td_relocated td_relocated;

/* td_relocations_point points every reference to the listed symbols to its hook. It returns what it
 * changed, for the undoing. *n is the number of places, perhaps 0. */
__attribute__((visibility("default"))) td_relocated *td_relocations_point(const td_relocation *list,
                                                                          size_t *n);

/* td_relocations_pause puts back what was there for each relocation that yields.
 * td_relocations_resume points to the hooks again. */
__attribute__((visibility("default"))) void td_relocations_pause(td_relocated *relocated);
__attribute__((visibility("default"))) void td_relocations_resume(td_relocated *relocated);

/* td_relocations_restore puts back what was there, but where somebody else has changed it since. */
__attribute__((visibility("default"))) void td_relocations_restore(td_relocated *relocated);

/* td_relocations_forget leaves all as it is and frees the list of changes. */
__attribute__((visibility("default"))) void td_relocations_forget(td_relocated *relocated);

/* td_relocations_write stores a pointer into memory that may be read-only: one slot of a vtable. */
__attribute__((visibility("default"))) bool td_relocations_write(void **slot, void *value);

#ifdef __cplusplus
}
#endif
