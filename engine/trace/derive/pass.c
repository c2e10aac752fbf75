/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/pass.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

static inline uint32_t
node_of(const void *pass, uint32_t number) {
  return ((const td_rpass *)pass)->tasks[number - 1].node->id;
}

TD_HASH_INDEX_DEFINE(numbers, uint32_t, td_hash_number, node_of, TD_HASH_INDEX_EQUAL)

td_rtask *
td_rpass_find(const td_rpass *pass, uint32_t node) {
  uint32_t number = numbers_find(&pass->numbers, node, pass);
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

/* ---- the call ---- */

td_rpass *
td_rpass_new(const td_event_graph_task_begin *event) {
  td_rpass *pass = TD_NEW(td_rpass);
  *pass = (td_rpass){.graph_task = event->graph_task,
                     .refs = 1,
                     .depth = event->depth,
                     .owner = event->owner,
                     .create_graph = event->create_graph,
                     .selective = event->n_outputs > 0,
                     .accumulate_grad = event->accumulate_grad,
                     .root = event->root,
                     .n_roots = event->n_roots,
                     .n_outputs = event->n_outputs};
  return pass;
}

static bool
is_whole(const td_rpass *pass) {
  return pass->n_roots_seen == pass->n_roots && pass->n_outputs_seen == pass->n_outputs;
}

bool
td_rpass_add_root(td_rpass *pass, const td_event_root_gradient *event) {
  td_rgradient gradient = {pass->n_roots_seen, event->defined, event->device, event->bytes};
  if (pass->known || pass->n_roots_seen == pass->n_roots) return false;
  TD_GROW(pass->roots, pass->n_roots_seen, pass->roots_capacity);
  pass->roots[pass->n_roots_seen++] = (td_rroot){event->node, event->input_nr, gradient};
  return is_whole(pass);
}

bool
td_rpass_add_output(td_rpass *pass, const td_event_wanted_output *event) {
  if (pass->known || pass->n_outputs_seen == pass->n_outputs) return false;
  TD_GROW(pass->outputs, pass->n_outputs_seen, pass->outputs_capacity);
  pass->outputs[pass->n_outputs_seen++] =
      (td_redge){event->output_nr, event->node, event->input_nr};
  return is_whole(pass);
}

void
td_rpass_unref(td_derivation *self, td_rpass *pass) {
  if (--pass->refs > 0) return;
  for (uint32_t i = 0; i < pass->n_tasks; i++)
    td_rnode_release(self, pass->tasks[i].node);
  free(pass->roots);
  free(pass->outputs);
  free(pass->tasks);
  td_hash_index_fini(&pass->numbers);
  free(pass);
}

/* ---- what its nodes wait for ---- */

typedef struct walk {
  td_rnode *node;
  uint32_t next_edge;
} walk;

/* Takes the walk's next step from what the derivation may do. */
static bool
may_go_on(td_derivation *self) {
  if (self->n_left == 0) return false;
  self->n_left--;
  return true;
}

/* Puts the children of a node on the stack that were not met before. */
static bool
count_children(td_derivation *self, td_rpass *pass, const td_rnode *node, td_rnode ***stack,
               size_t *n, size_t *capacity) {
  for (uint32_t i = 0; i < node->n_edges; i++) {
    td_rnode *next = td_rnode_find(self, node->edges[i].node);
    if (!next || next->is_partial || !may_go_on(self)) return false;
    bool is_new;
    td_rtask *task = obtain(pass, next, &is_new);
    task->dependencies++;
    task->counted = true;
    if (!is_new) continue;
    TD_GROW(*stack, *n, *capacity);
    (*stack)[(*n)++] = next;
  }
  return true;
}

static bool
count_dependencies(td_derivation *self, td_rpass *pass, uint32_t least_topological_nr) {
  td_rnode **stack = NULL, *root = td_rnode_find(self, pass->root);
  size_t n = 0, capacity = 0;
  bool is_new, is_there = root && !root->is_partial;
  if (!is_there) return false;
  obtain(pass, root, &is_new);
  TD_GROW(stack, n, capacity);
  stack[n++] = root;
  while (n > 0 && is_there) {
    const td_rnode *node = stack[--n];
    if (node->topological_nr < least_topological_nr) continue;
    is_there = count_children(self, pass, node, &stack, &n, &capacity);
  }
  free(stack);
  return is_there;
}

static void
mark_outputs(td_derivation *self, td_rpass *pass) {
  for (uint32_t i = 0; i < pass->n_outputs_seen; i++) {
    td_rnode *node = td_rnode_find(self, pass->outputs[i].node);
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
mark_paths(td_derivation *self, td_rpass *pass, uint32_t least_topological_nr) {
  bool *seen = TD_NEW_N(bool, pass->n_tasks);
  walk *walks = NULL;
  size_t n = 0, capacity = 0;
  TD_GROW(walks, n, capacity);
  walks[n++] = (walk){pass->tasks[0].node, 0};
  seen[0] = true;
  while (n > 0) {
    walk *now = &walks[n - 1];
    td_rtask *task = td_rpass_find(pass, now->node->id);
    if (now->next_edge == now->node->n_edges) {
      n--;
      if (n > 0 && td_rtask_wanted(pass, task))
        td_rpass_find(pass, walks[n - 1].node->id)->needed = true;
      continue;
    }
    td_rnode *next = td_rnode_find(self, now->node->edges[now->next_edge++].node);
    td_rtask *child = next ? td_rpass_find(pass, next->id) : NULL;
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
least_topological_nr(const td_derivation *self, const td_rpass *pass) {
  uint32_t least = pass->n_outputs_seen ? UINT32_MAX : 0;
  for (uint32_t i = 0; i < pass->n_outputs_seen; i++) {
    const td_rnode *node = td_rnode_find(self, pass->outputs[i].node);
    least = TD_MIN(least, node ? node->topological_nr : 0);
  }
  return least;
}

bool
td_rpass_count(td_derivation *self, td_rpass *pass) {
  uint32_t least = least_topological_nr(self, pass);
  if (!count_dependencies(self, pass, least)) return false;
  mark_outputs(self, pass);
  if (pass->selective) mark_paths(self, pass, least);
  return true;
}
