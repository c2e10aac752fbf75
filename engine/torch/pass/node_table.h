/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one graph task knows of each node it may reach. PyTorch's dependencies_, not_ready_ and
 * exec_info_ are one entry here, so that the scatter of a gradient looks a node up once. Entries
 * stay in the order of first visit. Guarded by the graph task's lock once the pass runs. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/torch/graph/node.h"
#include "engine/torch/pass/input_buffer.h"

/* A gradient wanted as a result: of which input, to which place in the results. */
typedef struct td_capture {
  uint32_t input_nr, output_nr;
  struct td_capture *next;
} td_capture;

typedef struct td_node_entry {
  td_node *node;           /* (borrowed: the roots keep the graph alive) */
  uint32_t dependencies;   /* gradients that have not arrived */
  bool has_dependencies;   /* false for the root, and again once complete */
  bool in_graph;           /* an edge of a visited node leads to it */
  bool needed;             /* exec_info: its function must be called */
  td_capture *captures;    /* (owned) exec_info: its gradients are results */
  td_input_buffer *buffer; /* (owned) in not_ready, or NULL */
} td_node_entry;

typedef struct td_node_table {
  td_node_entry *entries; /* (owned) */
  uint32_t n, capacity;
  td_hash_index numbers; /* 1 + entry, by node */
} td_node_table;

void td_node_table_fini(td_node_table *table);

/* td_node_table_find returns a node's entry or NULL; td_node_table_add adds it where it is missing
 * and tells whether it was. Both are valid until the next addition. */
td_node_entry *td_node_table_find(const td_node_table *table, const td_node *node);
td_node_entry *td_node_table_add(td_node_table *table, td_node *node, bool *is_new);
