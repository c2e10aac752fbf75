/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"

#include "engine/base/reserve.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void
td_out_of_memory(void) {
  fputs("tapedeck: out of memory\n", stderr);
  abort();
}

/* Tries twice: a program that keeps a reserve has memory again after the first failure. */
static void *
resize(void *block, size_t n_bytes) {
  void *resized = realloc(block, n_bytes);
  if (resized) return resized;
  td_reserve_spend();
  resized = realloc(block, n_bytes);
  if (!resized) td_out_of_memory();
  return resized;
}

/* The C library's calloc passes by its per-thread cache of small blocks; malloc does not. */
#define SMALL_BYTES 1024

void *
td_alloc(size_t n, size_t size) {
  if (n <= SMALL_BYTES && size <= SMALL_BYTES && n * size <= SMALL_BYTES) {
    size_t n_bytes = TD_MAX(n * size, (size_t)1);
    return memset(resize(NULL, n_bytes), 0, n_bytes);
  }
  void *block = td_try_alloc(n, size);
  if (block) return block;
  td_reserve_spend();
  block = td_try_alloc(n, size);
  if (!block) td_out_of_memory();
  return block;
}

void *
td_realloc(void *block, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size) td_out_of_memory();
  return resize(block, TD_MAX(n * size, (size_t)1));
}

void *
td_try_alloc(size_t n, size_t size) {
  return calloc(n ? n : 1, size ? size : 1);
}

char *
td_dup_string(const char *text) {
  size_t n_bytes = strlen(text) + 1;
  return memcpy(resize(NULL, n_bytes), text, n_bytes);
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
  va_list again;
  va_copy(again, args);
  char *text = NULL;
  int n = vasprintf(&text, format, args);
  if (n < 0) {
    td_reserve_spend();
    n = vasprintf(&text, format, again);
  }
  va_end(again);
  if (n < 0) td_out_of_memory();
  return text;
}
