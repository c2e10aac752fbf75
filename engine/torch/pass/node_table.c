/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/node_table.h"

#include "engine/base/alloc.h"

void
td_node_table_fini(td_node_table *table) {
  for (uint32_t i = 0; i < table->n; i++) {
    td_input_buffer_free(table->entries[i].buffer);
    for (td_capture *capture = table->entries[i].captures, *next; capture; capture = next) {
      next = capture->next;
      free(capture);
    }
  }
  free(table->entries);
  td_hash_index_fini(&table->numbers);
  *table = (td_node_table){0};
}

/* Ids are dense, and a graph's nodes were made one after another: the id itself spreads them over
 * the slots without a collision, and a walk down the graph walks along the slots. */
#define ID_OF(node) ((node)->id)

static inline const td_node *
key_of(const void *table, uint32_t number) {
  return ((const td_node_table *)table)->entries[number - 1].node;
}

TD_HASH_INDEX_DEFINE(numbers, const td_node *, ID_OF, key_of, TD_HASH_INDEX_EQUAL)

td_node_entry *
td_node_table_find(const td_node_table *table, const td_node *node) {
  uint32_t number = numbers_find(&table->numbers, node, table);
  return number ? &table->entries[number - 1] : NULL;
}

td_node_entry *
td_node_table_add(td_node_table *table, td_node *node, bool *is_new) {
  uint32_t number = numbers_put(&table->numbers, table->n, node, table);
  *is_new = number > table->n;
  if (*is_new) {
    TD_GROW(table->entries, table->n, table->capacity);
    table->entries[table->n++] = (td_node_entry){.node = node};
  }
  return &table->entries[number - 1];
}
