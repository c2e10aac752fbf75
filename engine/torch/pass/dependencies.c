/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/dependencies.h"

#include "engine/base/alloc.h"
#include "engine/torch/pass/pass_streams.h"
#include "engine/torch/tensor/launch.h"

/* A stack of nodes to visit. */
typedef struct node_stack {
  td_node **nodes; /* (owned) */
  size_t n, capacity;
} node_stack;

static void
stack_push(node_stack *stack, td_node *node) {
  TD_GROW(stack->nodes, stack->n, stack->capacity);
  stack->nodes[stack->n++] = node;
}

void
td_graph_task_emit_dependencies(const td_graph_task *graph_task) {
  for (uint32_t i = 0; td_recording() && i < graph_task->nodes.n; i++) {
    const td_node_entry *entry = &graph_task->nodes.entries[i];
    td_node_announce(entry->node);
    if (entry->has_dependencies)
      TD_EMIT_BORROWED(dependency, .graph_task = graph_task->handle.id,
                       .node = td_node_id(entry->node), .count = entry->dependencies);
  }
}

void
td_graph_task_compute_dependencies(td_graph_task *graph_task, td_node *root, uint64_t min_topo) {
  node_stack stack = {0};
  bool is_new;
  td_node_table_add(&graph_task->nodes, root, &is_new);
  stack_push(&stack, root);
  while (stack.n > 0) {
    td_node *node = stack.nodes[--stack.n];
    if (node->topological_nr < min_topo) continue;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
      td_node *next = node->next_edges[i].node;
      if (!next) continue;
      td_node_entry *entry = td_node_table_add(&graph_task->nodes, next, &is_new);
      entry->dependencies++;
      entry->has_dependencies = true;
      entry->in_graph = true;
      if (is_new) stack_push(&stack, next);
    }
  }
  free(stack.nodes);
  td_graph_task_emit_dependencies(graph_task);
  if (td_accelerators_now) graph_task->streams = td_pass_streams_new(&graph_task->nodes);
}
