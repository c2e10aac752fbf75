/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/watchable.h"

#include <elf.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>

#if __SIZEOF_POINTER__ == 8
#define OWN_CLASS ELFCLASS64
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#else
#define OWN_CLASS ELFCLASS32
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#endif

/* Who has no interpreter loads no library. */
static bool
is_static(const char *bytes, gsize n_bytes) {
  elf_header header;
  elf_segment segment;
  if (n_bytes < sizeof header) return false;
  memcpy(&header, bytes, sizeof header);
  for (gsize i = 0; i < header.e_phnum; i++) {
    gsize at = header.e_phoff + i * header.e_phentsize;
    if (header.e_phentsize < sizeof segment || at > n_bytes || n_bytes - at < sizeof segment)
      return false;
    memcpy(&segment, bytes + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

char *
td_watchable_problem(const char *name) {
  g_autofree char *path = g_find_program_in_path(name);
  GStatBuf info;
  if (!path || g_stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
  if (info.st_mode & (S_ISUID | S_ISGID))
    return g_strdup_printf("%s is setuid or setgid, so it loads no preloaded library", path);
  g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
  const char *bytes = file ? g_mapped_file_get_contents(file) : NULL;
  gsize n_bytes = file ? g_mapped_file_get_length(file) : 0;
  if (n_bytes < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0) return NULL;
  if (bytes[EI_CLASS] != OWN_CLASS)
    return g_strdup_printf("%s was built for another kind of processor than Tapedeck", path);
  return is_static(bytes, n_bytes) ? g_strdup_printf("%s is a static executable", path) : NULL;
}
