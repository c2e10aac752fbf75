/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texts with numbers, as they are met in a foreign file: each distinct one is kept once. Number 0
 * is the empty text. Zero-initialise. Belongs to one thread at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct td_text_table {
  char *bytes; /* (owned) texts one after another, each with its zero */
  size_t n_bytes, bytes_capacity;
  size_t *offsets; /* (owned) [n] into bytes */
  uint32_t n, capacity;
  uint32_t *slots; /* (owned) numbers by hash, 0 for free; a power of two, at most half full */
  uint32_t n_slots;
} td_text_table;

/* td_text_table_put returns the number of a text of `length` bytes, which end at the first zero. */
uint32_t td_text_table_put(td_text_table *table, const char *text, size_t length);

/* td_text_table_get returns the text of a number; borrowed until the next put. */
const char *td_text_table_get(const td_text_table *table, uint32_t number);

void td_text_table_fini(td_text_table *table);
