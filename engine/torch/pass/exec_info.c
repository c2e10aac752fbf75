/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/exec_info.h"

#include "engine/base/alloc.h"

static void
mark_outputs(td_graph_task *graph_task, const td_edge *outputs, uint32_t n_outputs) {
  for (uint32_t i = 0; i < n_outputs; i++) {
    bool is_new;
    td_node_entry *entry = td_node_table_add(&graph_task->nodes, outputs[i].node, &is_new);
    if (graph_task->accumulate_grad) {
      entry->needed = true;
      continue;
    }
    td_capture **last = &entry->captures;
    while (*last)
      last = &(*last)->next;
    *last = TD_NEW(td_capture);
    **last = (td_capture){.input_nr = outputs[i].input_nr, .output_nr = i};
  }
}

bool
td_graph_task_should_execute(const td_graph_task *graph_task, const td_node *node) {
  const td_node_entry *entry = td_node_table_find(&graph_task->nodes, node);
  return entry && (entry->needed || entry->captures);
}

/* A node on the walk and the edge to look at next. */
typedef struct walk_frame {
  td_node *node;
  uint32_t next_edge;
} walk_frame;

/* Depth first: a node is needed if a child that should execute hangs below it. `seen` holds
 * finished nodes too: the graph has no cycles, so a seen child that is not finished cannot occur.
 */
static void
mark_paths(td_graph_task *graph_task, td_node *root, uint64_t min_topo) {
  td_node_table seen = {0};
  walk_frame *frames = NULL;
  size_t n = 0, capacity = 0;
  bool is_new;
  td_node_table_add(&seen, root, &is_new);
  TD_GROW(frames, n, capacity);
  frames[n++] = (walk_frame){root, 0};
  while (n > 0) {
    walk_frame *frame = &frames[n - 1];
    td_node *node = frame->node;
    if (frame->next_edge < node->n_outputs) {
      td_node *next = node->next_edges[frame->next_edge++].node;
      if (!next) continue;
      td_node_table_add(&seen, next, &is_new);
      if (!is_new && td_graph_task_should_execute(graph_task, next))
        td_node_table_find(&graph_task->nodes, node)->needed = true;
      if (!is_new || next->topological_nr < min_topo) continue;
      TD_GROW(frames, n, capacity);
      frames[n++] = (walk_frame){next, 0};
      continue;
    }
    n--;
    if (n > 0 && td_graph_task_should_execute(graph_task, node))
      td_node_table_find(&graph_task->nodes, frames[n - 1].node)->needed = true;
  }
  free(frames);
  td_node_table_fini(&seen);
}

/* As in PyTorch, the root always has an entry, and of the others those that should execute. */
static void
emit_exec_info(const td_graph_task *graph_task, const td_node *root) {
  for (uint32_t i = 0; td_recording() && i < graph_task->nodes.n; i++) {
    const td_node_entry *entry = &graph_task->nodes.entries[i];
    uint32_t n_captures = 0;
    for (const td_capture *capture = entry->captures; capture; capture = capture->next)
      n_captures++;
    if (!entry->needed && n_captures == 0 && entry->node != root) continue;
    td_node_announce(entry->node);
    TD_EMIT_BORROWED(exec_info, .graph_task = graph_task->handle.id,
                     .node = td_node_id(entry->node), .needed = entry->needed,
                     .captures = n_captures);
  }
}

void
td_graph_task_init_to_execute(td_graph_task *graph_task, td_node *root, const td_edge *outputs,
                              uint32_t n_outputs, uint64_t min_topo) {
  mark_outputs(graph_task, outputs, n_outputs);
  mark_paths(graph_task, root, min_topo);
  emit_exec_info(graph_task, root);
}

static _Thread_local td_stand_in stand_in;

td_stand_in
td_needs_gradient_as(td_stand_in wanted) {
  td_stand_in before = stand_in;
  stand_in = wanted;
  return before;
}

bool
td_needs_gradient(const td_node *node, uint32_t output_nr) {
  if (TD_UNLIKELY(stand_in.node == node)) node = stand_in.instead;
  const td_node *next = node->next_edges[output_nr].node;
  const td_graph_task *graph_task = td_graph_task_now();
  if (!next || !graph_task || !graph_task->selective) return next != NULL;
  return td_graph_task_should_execute(graph_task, next);
}

td_status
td_graph_task_will_execute(const td_node *node, bool *will, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  if (!graph_task)
    return td_error_set(error, TD_AUTOGRAD,
                        "_get_should_execute_nodes should only be called during the backward pass");
  const td_node_entry *entry = td_node_table_find(&graph_task->nodes, node);
  *will = entry && entry->in_graph;
  if (!*will || !graph_task->selective) return TD_OK;
  *will = entry->needed || entry->captures;
  if (entry->captures && node->topological_nr == 0)
    return td_error_set(error, TD_AUTOGRAD,
                        "A leaf node was passed to _will_engine_execute_node but we are currently "
                        "running autograd.grad(). This is currently not supported.");
  return TD_OK;
}
