/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_missing.h"

#include "engine/base/alloc.h"
#include "engine/profile/why/missing.h"

static const td_task_now *
task_of(const td_state *state, uint32_t node, uint32_t graph_task) {
  uint32_t task = td_state_task_at(state, node, graph_task);
  return task == TD_NONE ? NULL : td_state_task(state, task);
}

/* The node that a waiting task waits for, or TD_NONE. Of several it is one that has begun to send,
 * if there is one. */
static uint32_t
sender_of(const td_chain_walk *walk, const td_senders_now *now, const td_task_now *task) {
  const td_state *state = td_replay_state(walk->replay);
  td_missing missing;
  uint32_t sender = TD_NONE;
  td_missing_find(&missing, walk->catalog, state, now, task);
  for (uint32_t i = 0; i < missing.n; i++) {
    const td_task_now *other = task_of(state, missing.senders[i].from, task->graph_task);
    bool waits = other && other->queue == TD_NONE && other->dependencies > 0;
    if (sender == TD_NONE || !waits) sender = missing.senders[i].from;
  }
  td_missing_fini(&missing);
  return sender;
}

static void
add_sender(td_chain_walk *walk, uint32_t sender, const td_task_now *task) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_wait;
  step.seq = walk->chain->steps[0].seq;
  step.node = sender;
  step.to = task->node;
  step.graph_task = task->graph_task;
  td_chain_add(walk->chain, step);
}

/* A graph of a hostile tape may have circles. */
static uint32_t
follow(td_chain_walk *walk, const td_senders_now *now, unsigned char *seen, uint32_t node,
       uint32_t graph_task) {
  const td_state *state = td_replay_state(walk->replay);
  for (;;) {
    const td_task_now *task = task_of(state, node, graph_task);
    uint32_t row = td_catalog_node_row(walk->catalog, node);
    if (!task || task->queue != TD_NONE || !task->dependencies || seen[row]) return node;
    seen[row] = 1;
    uint32_t sender = sender_of(walk, now, task);
    if (sender == TD_NONE) return node;
    add_sender(walk, sender, task);
    node = sender;
  }
}

uint32_t
td_chain_walk_missing(td_chain_walk *walk, uint32_t node, uint32_t graph_task, uint32_t *queue) {
  const td_state *state = td_replay_state(walk->replay);
  unsigned char *seen = td_try_alloc(walk->catalog->n_nodes, 1);
  td_senders_now now;
  *queue = TD_NONE;
  if (!seen) return node;
  td_senders_now_list(&now, walk->catalog, state);
  node = follow(walk, &now, seen, node, graph_task);
  const td_task_now *task = task_of(state, node, graph_task);
  if (task) *queue = task->queue;
  td_senders_now_fini(&now);
  free(seen);
  return node;
}
