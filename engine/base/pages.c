/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/pages.h"

#include "engine/base/reserve.h"

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

static void *
map_new(size_t n_bytes) {
  return mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *
td_pages_new(size_t n_bytes) {
  void *pages = map_new(n_bytes);
  if (pages != MAP_FAILED) return pages;
  td_reserve_spend();
  return abort_if_failed(map_new(n_bytes));
}

void *
td_pages_grow(void *pages, size_t n_bytes, size_t wanted) {
  void *grown = mremap(pages, n_bytes, wanted, MREMAP_MAYMOVE);
  if (grown != MAP_FAILED) return grown;
  td_reserve_spend();
  return abort_if_failed(mremap(pages, n_bytes, wanted, MREMAP_MAYMOVE));
}

void
td_pages_free(void *pages, size_t n_bytes) {
  munmap(pages, n_bytes);
}
