/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *
abort_if_null(void *block) {
  if (block) return block;
  fputs("tapedeck: out of memory\n", stderr);
  abort();
}

/* The C library's calloc passes by its per-thread cache of small blocks; malloc does not. */
#define SMALL_BYTES 1024

void *
td_alloc(size_t n, size_t size) {
  if (n <= SMALL_BYTES && size <= SMALL_BYTES && n * size <= SMALL_BYTES) {
    size_t n_bytes = TD_MAX(n * size, (size_t)1);
    void *block = abort_if_null(malloc(n_bytes));
    memset(block, 0, n_bytes);
    return block;
  }
  return abort_if_null(calloc(n ? n : 1, size ? size : 1));
}

void *
td_realloc(void *block, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size) abort_if_null(NULL);
  return abort_if_null(realloc(block, TD_MAX(n * size, (size_t)1)));
}

void *
td_try_alloc(size_t n, size_t size) {
  return calloc(n ? n : 1, size ? size : 1);
}

char *
td_dup_string(const char *text) {
  return abort_if_null(strdup(text));
}

char *
td_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = td_format_v(format, args);
  va_end(args);
  return text;
}

char *
td_format_v(const char *format, va_list args) {
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0) abort_if_null(NULL);
  return text;
}
