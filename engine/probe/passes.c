/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/passes.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/base/task_order.h"

static td_rnode **nodes; /* (owned) by id */
static size_t n_nodes, nodes_capacity;

/* nodes */

static uint32_t
topological_nr(const td_seen_node *seen) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < seen->n_edges; i++) {
    const td_rnode *child = td_rnode_find(seen->edges[i].node);
    if (child) result = TD_MAX(result, child->topological_nr + 1);
  }
  return result;
}

td_rnode *
td_rnode_add(const td_seen_node *seen) {
  td_rnode *node = td_alloc(1, sizeof *node + seen->n_edges * sizeof *node->edges);
  *node = (td_rnode){.id = (uint32_t)n_nodes,
                     .sequence_nr = seen->sequence_nr,
                     .topological_nr = topological_nr(seen),
                     .device = seen->device,
                     .n_inputs = seen->n_inputs,
                     .n_edges = seen->n_edges};
  for (uint32_t i = 0; i < seen->n_edges; i++)
    node->edges[i] = seen->edges[i];
  TD_GROW(nodes, n_nodes, nodes_capacity);
  return nodes[n_nodes++] = node;
}

td_rnode *
td_rnode_find(uint32_t id) {
  return id < n_nodes ? nodes[id] : NULL;
}

static void
free_if_done(td_rnode *node) {
  if (!node->gone || node->n_passes > 0) return;
  nodes[node->id] = NULL;
  free(node);
}

void
td_rnode_hold(td_rnode *node) {
  node->n_passes++;
}

void
td_rnode_release(td_rnode *node) {
  node->n_passes--;
  free_if_done(node);
}

void
td_rnode_drop(uint32_t id) {
  td_rnode *node = td_rnode_find(id);
  if (!node) return;
  node->gone = true;
  free_if_done(node);
}

void
td_rnode_forget_all(void) {
  nodes = NULL;
  n_nodes = nodes_capacity = 0;
}

/* passes */

static inline uint32_t
node_of(const void *pass, uint32_t number) {
  return ((const td_rpass *)pass)->tasks[number - 1].node->id;
}

TD_HASH_INDEX_DEFINE(numbers, uint32_t, TD_HASH_INDEX_DENSE, node_of, TD_HASH_INDEX_EQUAL)

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
    pass->tasks[pass->n_tasks++] = (td_rtask){.node = node, .device = TD_DEVICE_CPU};
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

/* queues */

/* Dummies never wait here. */
static inline td_task_place
place_of(const td_rentry *entry) {
  return (td_task_place){.depth = entry->pass->over ? TD_TASK_DEPTH_GONE : entry->pass->depth,
                         .sequence_nr = entry->node->sequence_nr};
}

static inline bool
goes_after(td_rentry a, td_rentry b, void *context) {
  return td_task_goes_after(place_of(&a), place_of(&b));
}

#define SET(context, slot, value) (*(slot) = (value))
TD_HEAP_DEFINE(entries, td_rentry, goes_after, SET)

void
td_rqueue_push(td_rqueue *queue, td_rpass *pass, td_rnode *node) {
  pass->refs++;
  TD_GROW(queue->heap, queue->n, queue->capacity);
  entries_push(queue->heap, queue->n++, (td_rentry){pass, node}, NULL);
}

td_rentry
td_rqueue_pop(td_rqueue *queue) {
  return entries_pop(queue->heap, queue->n--, NULL);
}

/* Puts back all but those that match, in the array's order. */
static size_t
take_all(td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  size_t n = queue->n, n_taken = 0;
  queue->n = 0;
  for (size_t i = 0; i < n; i++) {
    td_rentry entry = queue->heap[i];
    bool matches = entry.pass == pass && (!node || entry.node == node);
    n_taken += matches;
    if (!matches) entries_push(queue->heap, queue->n++, entry, NULL);
  }
  return n_taken;
}

bool
td_rqueue_take(td_rqueue *queue, const td_rpass *pass, const td_rnode *node) {
  return take_all(queue, pass, node) > 0;
}

void
td_rqueue_forget(td_rqueue *queue, td_rpass *pass) {
  for (size_t n = take_all(queue, pass, NULL); n > 0; n--)
    td_rpass_unref(pass);
}
