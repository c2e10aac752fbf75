/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *
abort_if_failed(void *pages) {
  if (pages == MAP_FAILED) {
    fputs("tapedeck: out of memory\n", stderr);
    abort();
  }
  return pages;
}

void *
td_pages_new(size_t n_bytes) {
  return abort_if_failed(
      mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void *
td_pages_grow(void *pages, size_t n_bytes, size_t wanted) {
  return abort_if_failed(mremap(pages, n_bytes, wanted, MREMAP_MAYMOVE));
}

void
td_pages_free(void *pages, size_t n_bytes) {
  munmap(pages, n_bytes);
}
