/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/text_table.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

#include <stdbool.h>
#include <string.h>

typedef struct text {
  const char *at;
  size_t length;
} text;

static inline uint64_t
hash_of(text text) {
  uint64_t hash = td_hash_bytes(TD_HASH_SEED, text.at, text.length);
  return hash ^ hash >> 32;
}

static inline text
text_of(const void *context, uint32_t number) {
  const td_text_table *table = context;
  size_t begin = number > 1 ? table->ends[number - 2] + 1 : 0;
  return (text){table->bytes + begin, table->ends[number - 1] - begin};
}

static inline bool
is_same(text a, text b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

TD_HASH_INDEX_DEFINE(numbers, text, hash_of, text_of, is_same)

static void
append(td_text_table *table, text text) {
  size_t needed = table->n_bytes + text.length + 1;
  if (needed > table->bytes_capacity) {
    table->bytes_capacity = TD_MAX(needed, table->bytes_capacity * 2);
    table->bytes = td_realloc(table->bytes, table->bytes_capacity, 1);
  }
  memcpy(table->bytes + table->n_bytes, text.at, text.length);
  table->bytes[needed - 1] = '\0';
  table->n_bytes = needed;
  TD_GROW(table->ends, table->n, table->capacity);
  table->ends[table->n++] = needed - 1;
}

uint32_t
td_text_table_put(td_text_table *table, const char *bytes, size_t length) {
  text text = {bytes, strnlen(bytes, length)};
  if (text.length == 0) return 0;
  uint32_t number = numbers_put(&table->numbers, table->n, text, table);
  if (number > table->n) append(table, text);
  return number;
}

const char *
td_text_table_get(const td_text_table *table, uint32_t number) {
  return number > 0 && number <= table->n ? text_of(table, number).at : "";
}

void
td_text_table_fini(td_text_table *table) {
  free(table->bytes);
  free(table->ends);
  td_hash_index_fini(&table->numbers);
  *table = (td_text_table){0};
}
