/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/relocations.h"

#include "engine/base/alloc.h"
#include "engine/base/libraries.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_FUNCTION_RELOCATION(type)                                                               \
  ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_FUNCTION_RELOCATION(type)                                                               \
  ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#endif

typedef struct change {
  void **slot;
  void *before, *hook;
  bool yields;
} change;

/* A relocation that is wanted of a library. A library has hundreds of thousands of relocations, so
 * most are told apart by the first bytes of their names. */
typedef struct candidate {
  const td_relocation *wanted; /* (borrowed) */
  size_t length;
  uint64_t word, mask; /* the first bytes of the symbol, and which of a name to compare with them */
} candidate;

struct td_relocated {
  const td_relocation *list; /* (borrowed) while it is made */
  candidate *candidates;     /* (owned) of the library at hand, while it is made */
  size_t n_candidates;
  change *changes; /* (owned) */
  size_t n, capacity;
};

/* What the dynamic section of a library says about its relocations. */
typedef struct tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const ElfW(Rela) * data, *calls;
  size_t n_data, n_calls;
} tables;

static tables
read_dynamic(const struct dl_phdr_info *info) {
  tables found = {0};
  const ElfW(Dyn) *dynamic = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    const void *address = (const void *)dynamic->d_un.d_ptr;
    size_t n = dynamic->d_un.d_val / sizeof(ElfW(Rela));
    if (dynamic->d_tag == DT_SYMTAB) found.symbols = address;
    if (dynamic->d_tag == DT_STRTAB) found.strings = address;
    if (dynamic->d_tag == DT_RELA) found.data = address;
    if (dynamic->d_tag == DT_JMPREL) found.calls = address;
    if (dynamic->d_tag == DT_RELASZ) found.n_data = n;
    if (dynamic->d_tag == DT_PLTRELSZ) found.n_calls = n;
  }
  return found;
}

bool
td_relocations_write(void **slot, void *value) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
  size_t n_bytes = (uintptr_t)(slot + 1) - at;
  if (mprotect((void *)at, n_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  return true;
}

/* The program itself has no name. */
static bool
is_in(const struct dl_phdr_info *info, const char *library) {
  if (!info->dlpi_name) return false;
  return *library ? strstr(info->dlpi_name, library) != NULL : !*info->dlpi_name;
}

static uint64_t
first_word(const char *name) {
  uint64_t word = 0;
  memcpy(&word, name, strnlen(name, sizeof word));
  return word;
}

static candidate
candidate_of(const td_relocation *wanted) {
  size_t length = strlen(wanted->symbol);
  uint64_t mask = 0;
  memset(&mask, 0xff, length < sizeof mask ? length : sizeof mask);
  return (candidate){wanted, length, first_word(wanted->symbol), mask};
}

static bool
is_named(const char *name, const candidate *self) {
  return self->wanted->whole ? strcmp(name, self->wanted->symbol) == 0
                             : strncmp(name, self->wanted->symbol, self->length) == 0;
}

static void
point(td_relocated *self, void **slot, const td_relocation *wanted) {
  if (*slot == wanted->hook) return;
  if (wanted->original && !*wanted->original) *wanted->original = *slot;
  change made = {slot, *slot, wanted->hook, wanted->yields};
  if (!td_relocations_write(slot, wanted->hook)) return;
  TD_GROW(self->changes, self->n, self->capacity);
  self->changes[self->n++] = made;
}

static void
point_all(td_relocated *self, const struct dl_phdr_info *info, const tables *tables,
          const ElfW(Rela) * relocations, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!IS_FUNCTION_RELOCATION(ELF64_R_TYPE(relocations[i].r_info))) continue;
    const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocations[i].r_info)];
    const char *name = tables->strings + symbol->st_name;
    uint64_t word = first_word(name);
    for (const candidate *one = self->candidates; one < self->candidates + self->n_candidates;
         one++)
      if ((word & one->mask) == one->word && is_named(name, one))
        point(self, (void **)(info->dlpi_addr + relocations[i].r_offset), one->wanted);
  }
}

static int
point_in_library_cb(struct dl_phdr_info *info, size_t size, void *data) {
  td_relocated *self = data;
  self->n_candidates = 0;
  for (const td_relocation *wanted = self->list; wanted->library; wanted++)
    if (is_in(info, wanted->library)) self->candidates[self->n_candidates++] = candidate_of(wanted);
  if (self->n_candidates == 0) return 0;
  tables tables = read_dynamic(info);
  if (!tables.symbols || !tables.strings) return 0;
  if (tables.data) point_all(self, info, &tables, tables.data, tables.n_data);
  if (tables.calls) point_all(self, info, &tables, tables.calls, tables.n_calls);
  return 0;
}

td_relocated *
td_relocations_point(const td_relocation *list, size_t *n) {
  td_relocated *self = TD_NEW(td_relocated);
  size_t n_wanted = 0;
  while (list[n_wanted].library)
    n_wanted++;
  self->list = list;
  self->candidates = TD_NEW_N(candidate, n_wanted);
  td_libraries_walk(point_in_library_cb, self);
  free(self->candidates);
  self->candidates = NULL;
  self->list = NULL;
  *n = self->n;
  return self;
}

void
td_relocations_pause(td_relocated *self) {
  for (change *made = self->changes; made < self->changes + self->n; made++)
    if (made->yields && *made->slot == made->hook) td_relocations_write(made->slot, made->before);
}

/* The dynamic linker may have found the function meanwhile: it binds at the first call. */
void
td_relocations_resume(td_relocated *self) {
  for (change *made = self->changes; made < self->changes + self->n; made++) {
    if (!made->yields || *made->slot == made->hook) continue;
    made->before = *made->slot;
    td_relocations_write(made->slot, made->hook);
  }
}

void
td_relocations_forget(td_relocated *self) {
  free(self->changes);
  free(self);
}

void
td_relocations_restore(td_relocated *self) {
  for (size_t i = 0; self && i < self->n; i++)
    if (*self->changes[i].slot == self->changes[i].hook)
      td_relocations_write(self->changes[i].slot, self->changes[i].before);
  if (self) td_relocations_forget(self);
}
