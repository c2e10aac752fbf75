/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texts with numbers: each distinct text is kept once. Number 0 is the empty text; the others are
 * numbered in the order in which they came. Zero-initialise. One thread at a time. */
#pragma once

#include "engine/base/hash_index.h"

#include <stddef.h>
#include <stdint.h>

typedef struct td_text_table {
  char *bytes; /* (owned) texts one after another, each with its zero */
  size_t n_bytes, bytes_capacity;
  size_t *ends;          /* (owned) [n] into bytes: where the text's zero is */
  uint32_t n, capacity;  /* without the empty text */
  td_hash_index numbers; /* by text */
} td_text_table;

/* td_text_table_put returns the number of a text of at most `length` bytes; it ends at its first
 * zero. If the number is greater than table->n was, the text is new. */
uint32_t td_text_table_put(td_text_table *table, const char *text, size_t length);

/* td_text_table_get returns the text of a number, "" if there is none; borrowed until the next
 * put. */
const char *td_text_table_get(const td_text_table *table, uint32_t number);

void td_text_table_fini(td_text_table *table);
