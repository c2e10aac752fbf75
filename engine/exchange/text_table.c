/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/text_table.h"

#include "engine/base/alloc.h"

#include <string.h>

/* FNV-1a, 64 bits (Fowler, Noll, Vo), folded. */
static uint32_t
hash_text(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *
find_slot(const td_text_table *table, const char *text, size_t length) {
  uint32_t at = hash_text(text, length) & (table->n_slots - 1);
  for (; table->slots[at]; at = (at + 1) & (table->n_slots - 1)) {
    const char *there = table->bytes + table->offsets[table->slots[at]];
    if (strncmp(there, text, length) == 0 && !there[length]) break;
  }
  return &table->slots[at];
}

static void
add(td_text_table *table, const char *text, size_t length) {
  size_t needed = table->n_bytes + length + 1;
  if (needed > table->bytes_capacity) {
    table->bytes_capacity = TD_MAX(needed, table->bytes_capacity * 2);
    table->bytes = td_realloc(table->bytes, table->bytes_capacity, 1);
  }
  TD_GROW(table->offsets, table->n, table->capacity);
  table->offsets[table->n++] = table->n_bytes;
  memcpy(table->bytes + table->n_bytes, text, length);
  table->bytes[table->n_bytes + length] = '\0';
  table->n_bytes += length + 1;
}

static void
grow_slots(td_text_table *table) {
  free(table->slots);
  table->n_slots = table->n_slots ? table->n_slots * 2 : 256;
  table->slots = TD_NEW_N(uint32_t, table->n_slots);
  for (uint32_t number = 1; number < table->n; number++) {
    const char *text = table->bytes + table->offsets[number];
    *find_slot(table, text, strlen(text)) = number;
  }
}

uint32_t
td_text_table_put(td_text_table *table, const char *text, size_t length) {
  length = strnlen(text, length);
  if (length == 0) return 0;
  if (table->n == 0) add(table, "", 0);
  if (2 * (table->n + 1) > table->n_slots) grow_slots(table);
  uint32_t *slot = find_slot(table, text, length);
  if (*slot) return *slot;
  *slot = table->n;
  add(table, text, length);
  return table->n - 1;
}

const char *
td_text_table_get(const td_text_table *table, uint32_t number) {
  return number < table->n ? table->bytes + table->offsets[number] : "";
}

void
td_text_table_fini(td_text_table *table) {
  free(table->bytes);
  free(table->offsets);
  free(table->slots);
  *table = (td_text_table){0};
}
