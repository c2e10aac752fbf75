/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/execution_order.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/torch/pass/graph_task.h"

/* A max-heap of nodes by sequence_nr; ties as in the ready queue. */
static inline bool
is_lower(td_node *a, td_node *b, void *context) {
  return a->sequence_nr < b->sequence_nr;
}
typedef td_node *node_pointer;
TD_HEAP_DEFINE(node_heap, node_pointer, TD_HEAP_GET, is_lower, TD_HEAP_SET)

typedef struct prediction {
  const td_graph_task *graph_task;
  uint32_t *left;  /* (owned) by entry of the graph task's table: dependencies; 0: met */
  td_node **heap;  /* (owned) */
  td_node **order; /* (owned) */
  size_t n_heap, heap_capacity, n_order, order_capacity;
} prediction;

static void
enter(prediction *self, td_node *node) {
  TD_GROW(self->heap, self->n_heap, self->heap_capacity);
  node_heap_push(self->heap, self->n_heap++, node, NULL);
}

static td_status
follow(prediction *self, td_node *node, td_error *error) {
  const td_node_table *table = &self->graph_task->nodes;
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    td_node *next = node->next_edges[i].node;
    if (!next) continue;
    const td_node_entry *entry = td_node_table_find(table, next);
    if (self->graph_task->selective && !(entry && (entry->needed || entry->captures))) continue;
    if (!entry || self->left[entry - table->entries] == 0)
      return td_error_set(error, TD_AUTOGRAD, "it != dependencies.end() INTERNAL ASSERT FAILED");
    if (--self->left[entry - table->entries] == 0) enter(self, next);
  }
  return TD_OK;
}

static td_status
predict(prediction *self, td_error *error) {
  td_status status = TD_OK;
  while (self->n_heap > 0 && !status) {
    td_node *node = node_heap_pop(self->heap, self->n_heap--, NULL);
    TD_GROW(self->order, self->n_order, self->order_capacity);
    self->order[self->n_order++] = node;
    status = follow(self, node, error);
  }
  return status;
}

td_status
td_graph_task_order(td_node ***order, uint32_t *n, td_error *error) {
  const td_graph_task *graph_task = td_graph_task_now();
  if (!graph_task)
    return td_error_set(error, TD_AUTOGRAD,
                        "_current_graph_task_execution_order should only be called during the "
                        "backward pass");
  if (td_multithreading())
    return td_error_set(error, TD_AUTOGRAD,
                        "get_current_graph_task_execution_order expects the current backward to be "
                        "executed with multithreading disabled, e.g. by running:\n\n"
                        ">>> with torch.autograd.set_multithreading_enabled(False):\n"
                        "...     torch.autograd.grad(...)\n");
  prediction self = {.graph_task = graph_task, .left = TD_NEW_N(uint32_t, graph_task->nodes.n)};
  for (uint32_t i = 0; i < graph_task->nodes.n; i++)
    self.left[i] = graph_task->nodes.entries[i].dependencies;
  for (uint32_t i = 0; i < graph_task->n_roots; i++)
    enter(&self, graph_task->roots[i].node);
  td_status status = predict(&self, error);
  free(self.left);
  free(self.heap);
  if (status) {
    free(self.order);
    return status;
  }
  *order = self.order;
  *n = (uint32_t)self.n_order;
  return TD_OK;
}
