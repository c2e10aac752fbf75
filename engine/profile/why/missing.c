/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/missing.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdlib.h>

/* A search among the edges to a node costs about as much as a look at this many edges. */
#define EDGES_PER_SEARCH 16

static int
compare_keys(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static int
compare_nodes(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Senders now */

static uint64_t
key(uint32_t graph_task, uint32_t node) {
  return (uint64_t)graph_task << 32 | node;
}

void
td_senders_now_list(td_senders_now *now, const td_catalog *catalog, const td_state *state) {
  uint32_t capacity = 0;
  *now = (td_senders_now){0};
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    if (!td_catalog_has_node(catalog, td_state_thread(state, i)->node)) continue;
    TD_GROW(now->keys, now->n, capacity);
    now->keys[now->n++] =
        key(td_state_thread(state, i)->graph_task, td_state_thread(state, i)->node);
  }
  if (now->n > 1) qsort(now->keys, now->n, sizeof *now->keys, compare_keys);
}

void
td_senders_now_fini(td_senders_now *now) {
  free(now->keys);
  *now = (td_senders_now){0};
}

static uint32_t
first_of(const td_senders_now *now, uint64_t wanted) {
  uint32_t at;
  TD_BISECT(at, 0, now->n, now->keys[at] < wanted);
  return at;
}

static bool
is_scattering(const td_senders_now *now, uint32_t node, uint32_t graph_task) {
  uint32_t at = first_of(now, key(graph_task, node));
  return at < now->n && now->keys[at] == key(graph_task, node);
}

/* Finding */

typedef struct search {
  const td_catalog *catalog;
  const td_state *state;
  const td_senders_now *now;
  const td_task_now *task;
  uint32_t *arrived;      /* (owned) what sent a gradient, sorted */
  uint32_t n_arrived, at; /* at: the next of them */
  td_missing *out;
} search;

static void
list_arrived(search *self) {
  uint32_t capacity = 0;
  for (uint32_t i = self->task->first_arrival; i != TD_NONE;
       i = td_state_arrival(self->state, i)->next) {
    TD_GROW(self->arrived, self->n_arrived, capacity);
    self->arrived[self->n_arrived++] = td_state_arrival(self->state, i)->from;
  }
  if (self->n_arrived > 1)
    qsort(self->arrived, self->n_arrived, sizeof *self->arrived, compare_nodes);
}

/* Senders come in rising order. */
static void
add_sender(search *self, uint32_t from, uint32_t n_edges) {
  uint32_t n_sent = 0;
  while (self->at < self->n_arrived && self->arrived[self->at] < from)
    self->at++;
  for (; self->at < self->n_arrived && self->arrived[self->at] == from; self->at++)
    n_sent++;
  if (n_sent >= n_edges) return;
  TD_GROW(self->out->senders, self->out->n, self->out->capacity);
  self->out->senders[self->out->n++] = (td_sender){from, n_edges - n_sent};
}

/* Will this node send something in the graph task? It waits or runs, or is handing out its
 * gradients. */
static bool
will_send(const search *self, uint32_t node) {
  return td_state_task_find(self->state, node, self->task->graph_task) ||
         is_scattering(self->now, node, self->task->graph_task);
}

static void
follow_edges(search *self, const td_catalog_node *node) {
  const uint32_t *in_edges = self->catalog->in_edges + node->first_in;
  for (uint32_t first = 0, end; first < node->n_in; first = end) {
    uint32_t from = self->catalog->edges[in_edges[first]].from;
    for (end = first; end < node->n_in && self->catalog->edges[in_edges[end]].from == from;)
      end++;
    if (will_send(self, from)) add_sender(self, from, end - first);
  }
}

static uint32_t
count_at_work(const td_senders_now *now, uint32_t graph_task) {
  return first_of(now, key(graph_task, TD_NONE)) - first_of(now, key(graph_task, 0));
}

/* The nodes that will send something in the graph task; some may be there twice. */
static uint32_t *
list_candidates(const search *self, uint32_t *n) {
  const td_graph_task_now *pass = td_state_graph_task(self->state, self->task->graph_task);
  uint32_t n_at_work = count_at_work(self->now, self->task->graph_task);
  uint32_t first = first_of(self->now, key(self->task->graph_task, 0));
  uint32_t *nodes = TD_NEW_N(uint32_t, pass->n_live + n_at_work);
  *n = 0;
  for (uint32_t i = 0; i < n_at_work; i++)
    nodes[(*n)++] = (uint32_t)self->now->keys[first + i];
  for (uint32_t i = pass->first_live - 1; i != TD_NONE;
       i = td_state_task(self->state, i)->pass_next)
    nodes[(*n)++] = td_state_task(self->state, i)->node;
  qsort(nodes, *n, sizeof *nodes, compare_nodes);
  return nodes;
}

static void
follow_pass(search *self) {
  uint32_t n, n_edges;
  uint32_t *nodes = list_candidates(self, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0 && nodes[i] == nodes[i - 1]) continue;
    td_catalog_edges_between(self->catalog, nodes[i], self->task->node, &n_edges);
    add_sender(self, nodes[i], n_edges);
  }
  free(nodes);
}

/* A gradient on its way is counted off (dependency_dec) before it lies in the buffer (buffer_add):
 * between the two its sender owes one gradient less than have arrived. */
static void
forget_delivered(const search *self) {
  td_missing *missing = self->out;
  uint32_t n_gradients = 0, kept = 0;
  for (uint32_t i = 0; i < missing->n; i++)
    n_gradients += missing->senders[i].n_gradients;
  for (uint32_t i = 0; i < missing->n; i++) {
    td_sender sender = missing->senders[i];
    if (n_gradients > self->task->dependencies &&
        is_scattering(self->now, sender.from, self->task->graph_task)) {
      sender.n_gradients--;
      n_gradients--;
    }
    if (sender.n_gradients) missing->senders[kept++] = sender;
  }
  missing->n = kept;
}

void
td_missing_find(td_missing *missing, const td_catalog *catalog, const td_state *state,
                const td_senders_now *now, const td_task_now *task) {
  search self = {catalog, state, now, task, .out = missing};
  const td_catalog_node *node = td_catalog_node_get(catalog, task->node);
  uint64_t n_candidates = (uint64_t)td_state_graph_task(state, task->graph_task)->n_live +
                          count_at_work(now, task->graph_task);
  *missing = (td_missing){0};
  list_arrived(&self);
  if (node->n_in / EDGES_PER_SEARCH > n_candidates)
    follow_pass(&self);
  else
    follow_edges(&self, node);
  forget_delivered(&self);
  free(self.arrived);
}

void
td_missing_fini(td_missing *missing) {
  free(missing->senders);
  *missing = (td_missing){0};
}
