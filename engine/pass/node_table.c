/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/node_table.h"

#include "engine/base/alloc.h"

void
td_node_table_fini(td_node_table *table) {
  for (uint32_t i = 0; i < table->n; i++) {
    td_input_buffer_free(table->entries[i].buffer);
    for (td_capture *capture = table->entries[i].captures, *next; capture; capture = next) {
      next = capture->next;
      td_hook_unref(capture->hook);
      free(capture);
    }
  }
  free(table->entries);
  free(table->slots);
  *table = (td_node_table){0};
}

/* Ids are dense, and a graph's nodes were made one after another: the id itself spreads them over
 * the slots without a collision, and a walk down the graph walks along the slots. */
static uint32_t
first_slot(const td_node_table *table, const td_node *node) {
  return node->id & (table->n_slots - 1);
}

static uint32_t *
find_slot(const td_node_table *table, const td_node *node) {
  uint32_t at = first_slot(table, node);
  while (table->slots[at] && table->entries[table->slots[at] - 1].node != node)
    at = (at + 1) & (table->n_slots - 1);
  return &table->slots[at];
}

static void
grow(td_node_table *table) {
  free(table->slots);
  table->n_slots = table->n_slots ? table->n_slots * 2 : 64;
  table->slots = TD_NEW_N(uint32_t, table->n_slots);
  for (uint32_t i = 0; i < table->n; i++)
    *find_slot(table, table->entries[i].node) = i + 1;
}

td_node_entry *
td_node_table_find(const td_node_table *table, const td_node *node) {
  if (table->n == 0) return NULL;
  uint32_t found = *find_slot(table, node);
  return found ? &table->entries[found - 1] : NULL;
}

td_node_entry *
td_node_table_add(td_node_table *table, td_node *node, bool *is_new) {
  if (2 * (table->n + 1) > table->n_slots) grow(table);
  uint32_t *slot = find_slot(table, node);
  *is_new = *slot == 0;
  if (*is_new) {
    TD_GROW(table->entries, table->n, table->capacity);
    table->entries[table->n++] = (td_node_entry){.node = node};
    *slot = table->n;
  }
  return &table->entries[*slot - 1];
}
