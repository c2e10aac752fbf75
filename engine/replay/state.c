/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/state.h"

static const char *const names[] = {
#define X(name) #name,
    TD_NODE_STATES(X)
#undef X
};

const char *
td_node_state_name(td_node_state state) {
  return names[state];
}

/* A live task of a tree of tasks, or NULL. */
static const td_task_now *
find_live(const td_state *state, uint32_t task) {
  if (task == TD_NONE) return NULL;
  const td_task_now *now = td_state_task(state, task), *found = NULL;
  if (!td_state_task_is_over(state, task)) return now;
  for (int i = 0; i < 2 && !found; i++)
    found = find_live(state, now->child[i]);
  return found;
}

const td_task_now *
td_state_task_find(const td_state *state, uint32_t node, uint32_t graph_task) {
  bool any = graph_task == TD_NONE;
  uint32_t last = any ? td_state_node(state, node)->graph_task : graph_task;
  uint32_t task = td_state_task_at(state, node, last);
  if (task != TD_NONE) return td_state_task(state, task);
  return any ? find_live(state, td_state_node(state, node)->task) : NULL;
}

/* ---- pairs ---- */

/* A pass that ran so many nodes is not searched. */
#define RAN_MOST 4096

static td_pair_now
own_pair(const td_state *state, uint32_t node) {
  const td_node_now *now = td_state_node(state, node);
  const td_run_now *run = td_state_run(state, node);
  return (td_pair_now){.begin_ns = run->begin_ns,
                       .end_ns = run->end_ns,
                       .thread = now->thread,
                       .state = now->state,
                       .before = now->before,
                       .is_known = true};
}

/* A pass that ended well has run to its end what began in it. */
static bool
is_done(const td_state *state, uint32_t node, uint32_t graph_task) {
  const td_catalog *catalog = state->catalog;
  const td_catalog_graph_task *facts = td_catalog_graph_task_get(catalog, graph_task);
  uint32_t status = td_state_graph_task(state, graph_task)->status;
  if (status != TD_PASS_RUNNING + TD_task_status_ok || facts->n_ran > RAN_MOST) return false;
  for (uint32_t i = 0; i < facts->n_ran; i++)
    if (catalog->ran[facts->first_ran + i] == node) return true;
  return false;
}

/* The state has nothing of the pair: it has not begun, or is forgotten. */
static td_pair_now
other_pair(const td_state *state, uint32_t node, uint32_t graph_task) {
  bool is_absent = td_state_node(state, node)->state == TD_NODE_absent;
  bool is_there = td_catalog_has_graph_task(state->catalog, graph_task);
  bool is_over = is_there && td_state_graph_task(state, graph_task)->status > TD_PASS_RUNNING;
  td_pair_now pair = {.state = is_absent ? TD_NODE_absent : TD_NODE_created,
                      .thread = TD_NONE,
                      .is_known = !is_over};
  if (!is_over || !is_done(state, node, graph_task)) return pair;
  pair.state = TD_NODE_done;
  pair.is_known = true;
  return pair;
}

static uint32_t
activity(const td_pair_now *pair) {
  switch (pair->state) {
  case TD_NODE_running:
    return 4;
  case TD_NODE_queued:
    return 3;
  case TD_NODE_partial:
    return 2;
  case TD_NODE_waiting:
    return 1;
  default:
    return 0;
  }
}

/* Visits the pairs of a tree of tasks that were set aside. No way in the tree is longer than an id
 * has bits. */
static void
visit_aside(const td_state *state, uint32_t task, td_pair_visitor visit, void *data) {
  if (task == TD_NONE) return;
  const td_task_now *now = td_state_task(state, task);
  if (now->pair != TD_NONE) visit(now->graph_task, td_state_pair_at(state, now->pair), data);
  for (int i = 0; i < 2; i++)
    visit_aside(state, now->child[i], visit, data);
}

void
td_state_each_pair(const td_state *state, uint32_t node, td_pair_visitor visit, void *data) {
  const td_node_now *now = td_state_node(state, node);
  td_pair_now own = own_pair(state, node);
  if (now->graph_task != TD_NONE) visit(now->graph_task, &own, data);
  visit_aside(state, now->task, visit, data);
}

static void
note_most_active(uint32_t graph_task, const td_pair_now *pair, void *data) {
  td_pair_now *most = data;
  (void)graph_task;
  if (activity(pair) > activity(most)) *most = *pair;
}

static td_pair_now
find_pair(const td_state *state, uint32_t node, uint32_t graph_task) {
  const td_node_now *now = td_state_node(state, node);
  if (now->graph_task == graph_task) return own_pair(state, node);
  uint32_t task = td_state_task_of_pair(state, node, graph_task);
  uint32_t pair = task == TD_NONE ? TD_NONE : td_state_task(state, task)->pair;
  return pair == TD_NONE ? other_pair(state, node, graph_task) : *td_state_pair_at(state, pair);
}

/* A node is released in all passes. */
td_pair_now
td_state_pair(const td_state *state, uint32_t node, uint32_t graph_task) {
  const td_node_now *now = td_state_node(state, node);
  bool any = graph_task == TD_NONE;
  if (any && now->task == TD_NONE) return own_pair(state, node); /* as most nodes are */
  td_pair_now pair = any ? own_pair(state, node) : find_pair(state, node, graph_task);
  if (any) visit_aside(state, now->task, note_most_active, &pair);
  if (now->state != TD_NODE_released || pair.state == TD_NODE_released) return pair;
  pair.before = pair.state;
  pair.state = TD_NODE_released;
  return pair;
}
