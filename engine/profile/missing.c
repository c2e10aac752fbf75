/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/missing.h"

#include "engine/base/alloc.h"

#include <stdlib.h>

static uint64_t
key(uint32_t from, uint32_t input_nr) {
  return (uint64_t)from << 32 | input_nr;
}

static int
compare_keys(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static uint64_t *
sorted_arrivals(const td_state *state, const td_task_now *task, uint32_t *n) {
  uint32_t capacity = 8;
  uint64_t *keys = TD_NEW_N(uint64_t, capacity);
  *n = 0;
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = state->arrivals[i].next) {
    TD_GROW(keys, *n, capacity);
    keys[(*n)++] = key(state->arrivals[i].from, state->arrivals[i].input_nr);
  }
  qsort(keys, *n, sizeof *keys, compare_keys);
  return keys;
}

static uint64_t *
sorted_edges(const td_catalog *catalog, const td_catalog_node *node) {
  uint64_t *keys = TD_NEW_N(uint64_t, node->n_in);
  for (uint32_t i = 0; i < node->n_in; i++) {
    const td_catalog_edge *edge = &catalog->edges[catalog->in_edges[node->first_in + i]];
    keys[i] = key(edge->from, edge->input_nr);
  }
  qsort(keys, node->n_in, sizeof *keys, compare_keys);
  return keys;
}

static bool
is_scattering(const td_catalog *catalog, const td_state *state, uint32_t node,
              uint32_t graph_task) {
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (state->threads[i].node == node && state->threads[i].graph_task == graph_task) return true;
  return false;
}

/* Will this node send something in the graph task? It waits or runs, or is handing out its
 * gradients. */
static bool
will_send(const td_catalog *catalog, const td_state *state, uint32_t node, uint32_t graph_task) {
  return td_state_task_find(state, node, graph_task) ||
         is_scattering(catalog, state, node, graph_task);
}

static void
add_sender(td_missing *missing, uint32_t from) {
  td_sender *last = missing->n ? &missing->senders[missing->n - 1] : NULL;
  if (last && last->from == from)
    last->n_gradients++;
  else
    missing->senders[missing->n++] = (td_sender){from, 1};
}

/* A gradient on its way is counted off (dependency_dec) before it lies in the buffer (buffer_add):
 * between the two its sender owes one gradient less than have arrived. */
static void
forget_delivered(td_missing *missing, const td_catalog *catalog, const td_state *state,
                 const td_task_now *task) {
  uint32_t n_gradients = 0, kept = 0;
  for (uint32_t i = 0; i < missing->n; i++)
    n_gradients += missing->senders[i].n_gradients;
  for (uint32_t i = 0; i < missing->n; i++) {
    td_sender sender = missing->senders[i];
    if (n_gradients > task->dependencies &&
        is_scattering(catalog, state, sender.from, task->graph_task)) {
      sender.n_gradients--;
      n_gradients--;
    }
    if (sender.n_gradients) missing->senders[kept++] = sender;
  }
  missing->n = kept;
}

void
td_missing_find(td_missing *missing, const td_catalog *catalog, const td_state *state,
                const td_task_now *task) {
  const td_catalog_node *node = &catalog->nodes[task->node];
  uint32_t n_arrived, arrived = 0;
  uint64_t *arrivals = sorted_arrivals(state, task, &n_arrived);
  uint64_t *edges = sorted_edges(catalog, node);
  *missing = (td_missing){.senders = TD_NEW_N(td_sender, node->n_in)};
  for (uint32_t i = 0; i < node->n_in; i++) {
    while (arrived < n_arrived && arrivals[arrived] < edges[i])
      arrived++;
    if (arrived < n_arrived && arrivals[arrived] == edges[i]) {
      arrived++;
      continue;
    }
    uint32_t from = (uint32_t)(edges[i] >> 32);
    if (will_send(catalog, state, from, task->graph_task)) add_sender(missing, from);
  }
  forget_delivered(missing, catalog, state, task);
  free(arrivals);
  free(edges);
}

void
td_missing_fini(td_missing *missing) {
  free(missing->senders);
  *missing = (td_missing){0};
}
