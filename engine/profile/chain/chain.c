/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain.h"

#include "engine/base/alloc.h"
#include "engine/events/event_type.h"
#include "engine/profile/chain/chain_missing.h"
#include "engine/profile/chain/chain_past.h"
#include "engine/profile/chain/chain_value.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/describe.h"
#include "engine/profile/why/why.h"

#include <stdlib.h>

/* So many events are read for one chain. */
#define EVENTS_MAX (UINT64_C(1) << 22)

typedef struct question {
  td_chain_walk walk; /* its event is the moment's */
  td_any_event event;
  uint64_t seq;
  uint32_t node, graph_task;
  bool is_of_event; /* the event is about the node */
  const td_state *state;
} question;

static void
add_moment(question *self) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_moment;
  step.seq = self->seq;
  step.node = self->node;
  step.graph_task = self->graph_task;
  step.thread = self->event.event.thread;
  td_chain_add(self->walk.chain, step);
}

/* What the moment is called */

static char *
dup_event_words(const question *self) {
  char *what = td_why_describe(self->walk.catalog, td_replay_tape(self->walk.replay), &self->event);
  char *text = td_said(self->walk.catalog, TD_SAY_stop, td_with_text("clause", what));
  free(what);
  return text;
}

static char *
dup_words(const question *self) {
  if (self->is_of_event || self->node == TD_NONE) return dup_event_words(self);
  return td_why_wait(self->walk.replay, self->node, self->graph_task);
}

/* Answers */

static const td_task_now *
task_of(const question *self) {
  uint32_t task = td_state_task_at(self->state, self->node, self->graph_task);
  return task == TD_NONE ? NULL : td_state_task(self->state, task);
}

/* The pass that began last of those that ran at an event, or TD_NONE: a checkpoint makes nodes
 * inside a pass. */
static uint32_t
pass_at(const td_catalog *catalog, uint64_t seq) {
  const td_catalog_graph_task *last = NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *pass = &catalog->graph_task_rows[i];
    bool ran = pass->begin_seq < seq && seq < pass->end_seq;
    if (ran && (!last || pass->begin_seq > last->begin_seq)) last = pass;
  }
  return last ? last->id : TD_NONE;
}

static void
tell_created(question *self) {
  const td_catalog *catalog = self->walk.catalog;
  uint64_t created = td_catalog_node_get(catalog, self->node)->created_seq;
  self->walk.at = TD_MIN(created, self->seq);
  td_chain_walk_end(&self->walk, TD_CHAIN_END_forward, self->node, pass_at(catalog, created));
}

static void
tell_wait(question *self) {
  uint32_t queue;
  uint32_t last = td_chain_walk_missing(&self->walk, self->node, self->graph_task, &queue);
  td_chain_goal goal = last == self->node ? TD_CHAIN_GOAL_gradient
                       : queue != TD_NONE ? TD_CHAIN_GOAL_push
                                          : TD_CHAIN_GOAL_run;
  td_chain_walk_past(&self->walk, last, self->graph_task, queue, goal);
}

static void
tell_past(question *self, td_chain_goal goal, uint32_t queue) {
  td_chain_walk_past(&self->walk, self->node, self->graph_task, queue, goal);
}

static bool
has_run(const question *self) {
  uint8_t state = td_state_pair(self->state, self->node, self->graph_task).state;
  return state == TD_NODE_running || state == TD_NODE_done || state == TD_NODE_captured ||
         state == TD_NODE_failed || state == TD_NODE_released;
}

static void
tell_node(question *self) {
  const td_task_now *task = task_of(self);
  if (self->graph_task == TD_NONE)
    tell_created(self);
  else if (task && task->queue != TD_NONE)
    tell_past(self, TD_CHAIN_GOAL_push, task->queue);
  else if (task && task->dependencies > 0)
    tell_wait(self);
  else if (!has_run(self) || !td_chain_walk_value(&self->walk, self->node, self->graph_task))
    tell_past(self, TD_CHAIN_GOAL_run, TD_NONE);
}

static void
tell_problem(question *self) {
  const td_event_version_conflict *conflict = &self->event.version_conflict;
  bool is_conflict = self->event.event.kind == TD_EVENT_version_conflict;
  if (!is_conflict || !td_chain_walk_conflict(&self->walk, conflict)) tell_node(self);
}

/* A gradient arrives: what sent it comes next, and its value counts more than its time. */
static void
tell_arrival(question *self) {
  if (self->event.buffer_add.from == TD_NONE) {
    tell_past(self, TD_CHAIN_GOAL_gradient, TD_NONE);
    return;
  }
  self->node = self->event.buffer_add.from;
  self->walk.chain->steps[0].node = self->node;
  if (!td_chain_walk_value(&self->walk, self->node, self->graph_task))
    tell_past(self, TD_CHAIN_GOAL_run, TD_NONE);
}

/* The thread that had the lock when the thread of the event began to wait, or TD_NONE. The walk
 * stops at the event that says so. */
static uint32_t
find_holder(td_chain_walk *walk, uint32_t waiter) {
  while (td_chain_walk_back(walk))
    if (walk->event.event.thread == waiter && walk->event.event.kind == TD_EVENT_lock_held)
      return walk->event.lock_held.holder;
  return TD_NONE;
}

/* Where the holder was is told with the event that the wait began with, if that is not the moment.
 */
static void
add_holder(question *self, uint32_t holder, const td_thread_now *now) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_wait;
  step.seq = self->walk.at;
  step.node = now->node;
  step.graph_task = now->graph_task;
  step.thread = self->event.event.thread;
  step.holder = holder;
  if (step.seq < self->seq) td_chain_add(self->walk.chain, step);
  td_chain_walk_past(&self->walk, now->node, now->graph_task, TD_NONE, TD_CHAIN_GOAL_run);
}

/* The node that the holder was at when the wait began. */
static void
tell_lock(question *self) {
  td_chain_walk *walk = &self->walk, search;
  td_chain_walk_init(&search, walk->replay, walk->chain, self->seq + 1, walk->n_most);
  uint32_t holder = find_holder(&search, self->event.event.thread);
  if (holder == TD_NONE || td_replay_seek(walk->replay, search.at + 1, NULL) != TD_OK) {
    td_chain_walk_end(walk, TD_CHAIN_END_unknown, TD_NONE, TD_NONE);
    return;
  }
  td_thread_now now = *td_state_thread(td_replay_state(walk->replay), holder);
  walk->at = TD_MIN(search.at, self->seq);
  walk->n_read = search.n_read;
  walk->thread = holder;
  if (td_catalog_has_node(walk->catalog, now.node))
    add_holder(self, holder, &now);
  else
    td_chain_walk_end(walk, TD_CHAIN_END_unknown, TD_NONE, TD_NONE);
}

static void
tell_event(question *self) {
  switch (self->event.event.kind) {
  case TD_EVENT_anomaly:
    self->walk.chain->steps[0].link = TD_CHAIN_value;
    td_chain_walk_birth(&self->walk, self->seq, &self->event.anomaly);
    break;
  case TD_EVENT_queue_pop:
    tell_past(self, TD_CHAIN_GOAL_push, self->event.queue_pop.queue);
    break;
  case TD_EVENT_queue_push:
    self->walk.at = self->seq + 1; /* it tells whether the task is a root */
    tell_past(self, TD_CHAIN_GOAL_run, TD_NONE);
    break;
  case TD_EVENT_buffer_add:
    tell_arrival(self);
    break;
  case TD_EVENT_buffer_ready:
  case TD_EVENT_buffer_park:
    tell_past(self, TD_CHAIN_GOAL_gradient, TD_NONE);
    break;
  case TD_EVENT_dependency_dec:
    self->walk.at = self->seq + 1;
    tell_past(self, TD_CHAIN_GOAL_gradient, TD_NONE);
    break;
  case TD_EVENT_version_conflict:
    tell_problem(self);
    break;
  default:
    tell_node(self);
  }
}

static bool
is_of_lock(const td_any_event *event) {
  return event->event.kind == TD_EVENT_lock_acquired || event->event.kind == TD_EVENT_lock_wait ||
         event->event.kind == TD_EVENT_lock_held;
}

static void
tell(question *self) {
  uint32_t pass = td_event_graph_task(&self->event.event);
  add_moment(self);
  self->walk.chain->asked = dup_words(self);
  if (is_of_lock(&self->event) && !self->is_of_event && self->node == TD_NONE)
    tell_lock(self);
  else if (self->node != TD_NONE && self->is_of_event)
    tell_event(self);
  else if (self->node != TD_NONE)
    tell_node(self);
  else if (pass != TD_NONE)
    td_chain_walk_ended(&self->walk, pass);
  else
    td_chain_walk_end(&self->walk, TD_CHAIN_END_unknown, TD_NONE, TD_NONE);
}

/* Who asks */

static bool
find_subject(question *self, uint32_t node) {
  uint32_t of_event = td_why_node_of(&self->event);
  const td_catalog *catalog = self->walk.catalog;
  self->is_of_event = node == TD_NONE || node == of_event;
  self->node = node == TD_NONE ? of_event : node;
  self->graph_task = TD_NONE;
  if (self->node == TD_NONE) return true;
  if (!td_catalog_has_node(catalog, self->node)) return false;
  if (self->is_of_event) self->graph_task = td_event_graph_task(&self->event.event);
  if (self->graph_task == TD_NONE)
    self->graph_task = td_state_node(self->state, self->node)->graph_task;
  if (!td_catalog_has_graph_task(catalog, self->graph_task)) self->graph_task = TD_NONE;
  return true;
}

td_status
td_chain_make_within(td_replay *replay, uint64_t seq, uint32_t node, uint64_t n_events,
                     td_chain *chain, td_error *error) {
  question self = {.seq = seq};
  uint64_t position = td_replay_position(replay);
  *chain = (td_chain){0};
  td_status status = td_replay_event(replay, seq, &self.event, error);
  if (status == TD_OK) status = td_replay_seek(replay, seq + 1, error);
  if (status != TD_OK) return status;
  self.state = td_replay_state(replay);
  td_chain_walk_init(&self.walk, replay, chain, seq, n_events);
  self.walk.event = self.event;
  if (find_subject(&self, node)) {
    if (!self.is_of_event) self.walk.at++; /* then the event may be a cause */
    tell(&self);
  } else {
    status = td_error_set(error, TD_OUT_OF_RANGE, "there is no node %u", node);
  }
  td_status back = td_replay_seek(replay, position, NULL);
  return status != TD_OK ? status : back;
}

td_status
td_chain_make(td_replay *replay, uint64_t seq, uint32_t node, td_chain *chain, td_error *error) {
  return td_chain_make_within(replay, seq, node, EVENTS_MAX, chain, error);
}
