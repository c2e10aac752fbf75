/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/relocations.h"

#include "engine/base/alloc.h"
#include "engine/base/libraries.h"

#include <stdint.h>
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

struct td_relocated {
  const td_relocation *list; /* (borrowed) while it is made */
  change *changes;           /* (owned) */
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

static bool
is_named(const char *name, const td_relocation *wanted) {
  return wanted->whole ? strcmp(name, wanted->symbol) == 0
                       : strncmp(name, wanted->symbol, strlen(wanted->symbol)) == 0;
}

static void
point(td_relocated *self, void **slot, const td_relocation *wanted) {
  if (*slot == wanted->hook) return;
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
    for (const td_relocation *wanted = self->list; wanted->library; wanted++)
      if (is_named(name, wanted) && is_in(info, wanted->library))
        point(self, (void **)(info->dlpi_addr + relocations[i].r_offset), wanted);
  }
}

static int
point_in_library_cb(struct dl_phdr_info *info, size_t size, void *data) {
  td_relocated *self = data;
  bool is_wanted = false;
  for (const td_relocation *wanted = self->list; wanted->library && !is_wanted; wanted++)
    is_wanted = is_in(info, wanted->library);
  if (!is_wanted) return 0;
  tables tables = read_dynamic(info);
  if (!tables.symbols || !tables.strings) return 0;
  if (tables.data) point_all(self, info, &tables, tables.data, tables.n_data);
  if (tables.calls) point_all(self, info, &tables, tables.calls, tables.n_calls);
  return 0;
}

td_relocated *
td_relocations_point(const td_relocation *list, size_t *n) {
  td_relocated *self = TD_NEW(td_relocated);
  self->list = list;
  td_libraries_walk(point_in_library_cb, self);
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
