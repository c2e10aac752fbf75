/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_value.h"

#include "engine/profile/chain/chain_paths.h"
#include "engine/replay/causes.h"

/* A NaN of the gradients leads back to one of the forward pass, and that to an Inf. */
#define BIRTHS_MAX 8

/* Steps along a path */

static bool
has_moved(const td_any_event *event, uint32_t from, uint32_t to, uint32_t graph_task) {
  return event->event.kind == TD_EVENT_buffer_add && event->buffer_add.from == from &&
         event->buffer_add.node == to && event->buffer_add.graph_task == graph_task;
}

static td_chain_step
step_of(const td_chain_walk *walk, td_chain_link link, uint32_t node, uint32_t to) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = link;
  step.seq = walk->at;
  step.node = node;
  step.to = to;
  step.thread = walk->event.event.thread;
  return step;
}

static void
add_gradient(td_chain_walk *walk) {
  const td_event_buffer_add *add = &walk->event.buffer_add;
  td_chain_step step = step_of(walk, TD_CHAIN_data, add->from, add->node);
  uint32_t n;
  const uint32_t *edges = td_catalog_edges_between(walk->catalog, add->from, add->node, &n);
  for (uint32_t i = 0; i < n; i++)
    if (walk->catalog->edges[edges[i]].input_nr == add->input_nr) step.edge = edges[i];
  step.graph_task = add->graph_task;
  td_chain_add(walk->chain, step);
}

/* The arrivals of the gradients along a path, each before the one that came of it. */
static void
follow_gradients(td_chain_walk *walk, const td_chain_path *path, uint32_t graph_task,
                 uint64_t until) {
  for (uint32_t i = 0; i + 1 < path->n && walk->at > until + 1 && td_chain_walk_back(walk);) {
    if (!has_moved(&walk->event, path->nodes[i + 1], path->nodes[i], graph_task)) continue;
    add_gradient(walk);
    i++;
  }
}

/* The operations of the forward pass along a path, as far as the tape has their order. */
static void
follow_operations(td_chain_walk *walk, const td_chain_path *path, uint64_t until) {
  for (uint32_t i = 1; i + 1 < path->n; i++) {
    uint64_t seq = td_catalog_node_get(walk->catalog, path->nodes[i])->created_seq;
    const td_chain_step *last = &walk->chain->steps[walk->chain->n - 1];
    if (seq >= last->seq || seq <= until) continue;
    td_chain_step step = step_of(walk, TD_CHAIN_data, path->nodes[i], path->nodes[i - 1]);
    step.seq = seq;
    step.thread = td_catalog_node_get(walk->catalog, path->nodes[i])->thread;
    td_chain_add(walk->chain, step);
  }
}

/* Births */

static bool
get_anomaly(const td_chain_walk *walk, uint64_t seq, td_event_anomaly *anomaly) {
  td_any_event event;
  return td_replay_event(walk->replay, seq, &event, NULL) == TD_OK && td_birth_of(&event, anomaly);
}

static void
add_birth(td_chain_walk *walk, uint64_t seq, const td_event_anomaly *anomaly, uint32_t to) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_value;
  step.seq = seq;
  step.node = anomaly->node;
  step.to = to;
  step.graph_task = anomaly->graph_task;
  step.thread = anomaly->event.thread;
  td_chain_add(walk->chain, step);
  walk->at = TD_MIN(walk->at, seq);
}

/* The births of a kind in the gradients of a graph task before the walk's place, by node: 1 + the
 * event of the latest. */
static void
list_births(const td_chain_walk *walk, uint32_t kind, uint32_t graph_task, td_number_map *births) {
  const td_catalog_mentions *problems = &walk->catalog->mentions[TD_LIST_problems];
  td_event_anomaly anomaly;
  for (uint32_t i = 0; i < problems->n && problems->items[i].seq < walk->at; i++) {
    if (problems->items[i].kind != TD_EVENT_anomaly ||
        !get_anomaly(walk, problems->items[i].seq, &anomaly))
      continue;
    if (anomaly.kind == kind && anomaly.graph_task == graph_task && !td_cause_of_forward(&anomaly))
      *td_number_map_put(births, anomaly.node) = problems->items[i].seq + 1;
  }
}

static bool
walk_to_birth(td_chain_walk *walk, uint32_t node, uint32_t graph_task, uint32_t kind) {
  td_number_map births = {0};
  td_chain_path path = {0};
  td_event_anomaly anomaly;
  list_births(walk, kind, graph_task, &births);
  bool found =
      births.n > 0 && td_chain_path_find(walk->catalog, node, false, graph_task, &births, &path);
  if (found) {
    uint32_t place = path.nodes[path.n - 1];
    uint64_t seq = *td_number_map_find(&births, place) - 1;
    found = get_anomaly(walk, seq, &anomaly);
    if (found) {
      follow_gradients(walk, &path, graph_task, seq);
      add_birth(walk, seq, &anomaly, path.n > 1 ? path.nodes[path.n - 2] : TD_NONE);
      td_chain_walk_birth(walk, seq, &anomaly);
    }
  }
  td_chain_path_fini(&path);
  td_number_map_fini(&births);
  return found;
}

bool
td_chain_walk_value(td_chain_walk *walk, uint32_t node, uint32_t graph_task) {
  return walk_to_birth(walk, node, graph_task, TD_anomaly_kind_nan) ||
         walk_to_birth(walk, node, graph_task, TD_anomaly_kind_inf);
}

/* What led from one birth to a later one. A sum got the value from one of its terms. */
static void
add_between(td_chain_walk *walk, const td_event_anomaly *later, const td_event_anomaly *cause,
            uint64_t cause_seq) {
  bool is_along = td_cause_of_forward(cause);
  td_number_map goal = {0};
  td_chain_path path;
  *td_number_map_put(&goal, cause->node) = 1;
  uint32_t through = is_along ? TD_NONE : later->graph_task;
  if (td_chain_path_find(walk->catalog, later->node, is_along, through, &goal, &path)) {
    if (is_along)
      follow_operations(walk, &path, cause_seq);
    else
      follow_gradients(walk, &path, later->graph_task, cause_seq);
    td_chain_path_fini(&path);
  }
  td_number_map_fini(&goal);
}

void
td_chain_walk_birth(td_chain_walk *walk, uint64_t seq, const td_event_anomaly *anomaly) {
  td_event_anomaly later = *anomaly, cause;
  td_tape *tape = td_replay_tape(walk->replay);
  uint64_t cause_seq;
  walk->chain->end = TD_CHAIN_END_born;
  for (int i = 0; i < BIRTHS_MAX; i++) {
    if (!td_cause_find(walk->catalog, tape, seq, &later, &cause_seq) || cause_seq >= seq ||
        !get_anomaly(walk, cause_seq, &cause))
      return;
    add_between(walk, &later, &cause, cause_seq);
    add_birth(walk, cause_seq, &cause, later.node);
    later = cause;
    seq = cause_seq;
  }
}

bool
td_chain_walk_conflict(td_chain_walk *walk, const td_event_version_conflict *conflict) {
  uint32_t n;
  td_any_event event;
  const td_catalog_mention *writes =
      td_catalog_mentions_of(walk->catalog, TD_LIST_writes, conflict->counter, &n);
  for (uint32_t i = 0; i < n && writes[i].seq < walk->at; i++) {
    if (td_replay_event(walk->replay, writes[i].seq, &event, NULL) != TD_OK ||
        event.event.kind != TD_EVENT_tensor_write ||
        event.tensor_write.version != conflict->saved + 1)
      continue;
    td_chain_step step = TD_CHAIN_STEP;
    step.link = TD_CHAIN_value;
    step.seq = writes[i].seq;
    step.node = event.tensor_write.node;
    step.to = conflict->node;
    step.thread = event.event.thread;
    td_chain_add(walk->chain, step);
    walk->chain->end = TD_CHAIN_END_born;
    return true;
  }
  return false;
}
