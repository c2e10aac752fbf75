/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/pass.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/events/event.h"

static inline uint32_t
node_of(const void *pass, uint32_t number) {
  return ((const td_rpass *)pass)->tasks[number - 1].node->id;
}

TD_HASH_INDEX_DEFINE(numbers, uint32_t, td_hash_number, node_of, TD_HASH_INDEX_EQUAL)

td_rtask *
td_rpass_find(const td_rpass *pass, const td_rnode *node) {
  uint32_t number = numbers_find(&pass->numbers, node->id, pass);
  return number ? &pass->tasks[number - 1] : NULL;
}

/* The node's task, made if it is new; good until the next call. */
static td_rtask *
obtain(td_rpass *pass, td_rnode *node, bool *is_new) {
  uint32_t number = numbers_put(&pass->numbers, pass->n_tasks, node->id, pass);
  *is_new = number > pass->n_tasks;
  if (*is_new) {
    TD_GROW(pass->tasks, pass->n_tasks, pass->tasks_capacity);
    pass->tasks[pass->n_tasks++] = (td_rtask){.node = node, .pass = pass, .device = TD_DEVICE_CPU};
    td_rnode_hold(node);
  }
  return &pass->tasks[number - 1];
}

typedef struct walk {
  td_rnode *node;
  uint32_t next_edge;
} walk;

static void
count_dependencies(td_rpass *pass, uint32_t least_topological_nr) {
  td_rnode **stack = NULL;
  size_t n = 0, capacity = 0;
  bool is_new;
  obtain(pass, pass->root, &is_new);
  TD_GROW(stack, n, capacity);
  stack[n++] = pass->root;
  while (n > 0) {
    td_rnode *node = stack[--n];
    if (node->topological_nr < least_topological_nr) continue;
    for (uint32_t i = 0; i < node->n_edges; i++) {
      td_rnode *next = td_rnode_find(node->edges[i].node);
      if (!next) continue;
      td_rtask *task = obtain(pass, next, &is_new);
      task->dependencies++;
      task->counted = true;
      if (!is_new) continue;
      TD_GROW(stack, n, capacity);
      stack[n++] = next;
    }
  }
  free(stack);
}

static void
mark_outputs(td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_outputs; i++) {
    td_rnode *node = td_rnode_find(pass->outputs[i].node);
    bool is_new;
    if (!node) continue;
    td_rtask *task = obtain(pass, node, &is_new);
    if (pass->accumulate_grad) task->needed = true;
    if (!pass->accumulate_grad && task->n_captures++ == 0) task->first_capture = i;
  }
}

bool
td_rtask_wanted(const td_rpass *pass, const td_rtask *task) {
  return !pass->selective || task->needed || task->n_captures > 0;
}

bool
td_rtask_runs(const td_rpass *pass, const td_rtask *task) {
  return !pass->selective || task->needed;
}

/* Depth first, as the engine does: a node is needed if one that is wanted hangs below it. */
static void
mark_paths(td_rpass *pass, uint32_t least_topological_nr) {
  bool *seen = TD_NEW_N(bool, pass->n_tasks);
  walk *walks = NULL;
  size_t n = 0, capacity = 0;
  TD_GROW(walks, n, capacity);
  walks[n++] = (walk){pass->root, 0};
  seen[0] = true;
  while (n > 0) {
    walk *now = &walks[n - 1];
    td_rtask *task = td_rpass_find(pass, now->node);
    if (now->next_edge == now->node->n_edges) {
      n--;
      if (n > 0 && td_rtask_wanted(pass, task))
        td_rpass_find(pass, walks[n - 1].node)->needed = true;
      continue;
    }
    td_rnode *next = td_rnode_find(now->node->edges[now->next_edge++].node);
    td_rtask *child = next ? td_rpass_find(pass, next) : NULL;
    if (!child) continue;
    if (seen[child - pass->tasks]) {
      if (td_rtask_wanted(pass, child)) task->needed = true;
      continue;
    }
    seen[child - pass->tasks] = true;
    if (next->topological_nr < least_topological_nr) continue;
    TD_GROW(walks, n, capacity);
    walks[n++] = (walk){next, 0};
  }
  free(walks);
  free(seen);
}

static uint32_t
least_topological_nr(const td_rpass *pass) {
  uint32_t least = pass->n_outputs ? UINT32_MAX : 0;
  for (uint32_t i = 0; i < pass->n_outputs; i++) {
    const td_rnode *node = td_rnode_find(pass->outputs[i].node);
    least = TD_MIN(least, node ? node->topological_nr : 0);
  }
  return least;
}

static td_rnode *
graph_root(const td_seen_pass *seen) {
  return td_rnode_add(&(td_seen_node){.sequence_nr = seen->next_sequence_nr,
                                      .device = TD_DEVICE_CPU,
                                      .n_inputs = seen->n_roots,
                                      .n_edges = seen->n_roots,
                                      .edges = seen->roots});
}

td_rpass *
td_rpass_new(const td_seen_pass *seen) {
  td_rpass *pass = TD_NEW(td_rpass);
  *pass = (td_rpass){.graph_task = TD_NONE,
                     .refs = 1,
                     .engine_task = -1,
                     .keep_graph = seen->keep_graph,
                     .create_graph = seen->create_graph,
                     .accumulate_grad = seen->accumulate_grad,
                     .selective = seen->n_outputs > 0,
                     .n_roots = seen->n_roots,
                     .n_outputs = seen->n_outputs,
                     .outputs = TD_NEW_N(td_seen_edge, seen->n_outputs + 1)};
  for (uint32_t i = 0; i < seen->n_outputs; i++)
    pass->outputs[i] = seen->outputs[i];
  if (seen->gradients) pass->root_gradient = seen->gradients[0];
  pass->root_input_nr = seen->roots[0].input_nr;
  pass->root = seen->n_roots == 1 ? td_rnode_find(seen->roots[0].node) : graph_root(seen);
  uint32_t least = least_topological_nr(pass);
  count_dependencies(pass, least);
  mark_outputs(pass);
  if (pass->selective) mark_paths(pass, least);
  return pass;
}

void
td_rpass_unref(td_rpass *pass) {
  if (--pass->refs > 0) return;
  if (pass->n_roots != 1) pass->root->gone = true;
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    td_rnode_release(pass->tasks[i].node);
  free(pass->outputs);
  free(pass->tasks);
  td_hash_index_fini(&pass->numbers);
  free(pass);
}
