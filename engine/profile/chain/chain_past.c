/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_past.h"

#include "engine/events/event_type.h"

typedef struct past {
  td_chain_walk *walk;
  uint32_t node, graph_task, queue;
  td_chain_goal goal;
  bool is_root;          /* its push said so */
  bool sees_queues;      /* somebody saw the pops */
  bool is_pending;       /* `step` waits for the last event of its node before it */
  td_chain_step pending; /* data or state */
} past;

static bool
is_task(const past *self, uint32_t node, uint32_t graph_task) {
  return node == self->node && graph_task == self->graph_task;
}

/* The step of the node that sent something is the last event of its run. */
static void
add_pending(past *self) {
  if (!self->is_pending) return;
  self->is_pending = false;
  self->pending.seq = self->walk->at;
  td_chain_walk_add(self->walk, self->pending);
}

static void
go_on_with(past *self, uint32_t node, uint32_t graph_task, td_chain_goal goal) {
  self->node = node;
  self->graph_task = graph_task;
  self->goal = goal;
  self->is_root = false;
}

/* Steps */

static uint32_t
find_edge(const td_catalog *catalog, uint32_t from, uint32_t to, uint32_t input_nr) {
  uint32_t n;
  const uint32_t *edges = td_catalog_edges_between(catalog, from, to, &n);
  for (uint32_t i = 0; i < n; i++)
    if (catalog->edges[edges[i]].input_nr == input_nr) return edges[i];
  return TD_NONE;
}

static void
wait_for_sender(past *self, td_chain_link link, uint32_t sender) {
  add_pending(self);
  self->is_pending = true;
  self->pending = TD_CHAIN_STEP;
  self->pending.link = link;
  self->pending.node = sender;
  self->pending.to = self->node;
  self->pending.graph_task = self->graph_task;
  self->pending.thread = self->walk->thread = self->walk->event.event.thread;
  go_on_with(self, sender, self->graph_task, TD_CHAIN_GOAL_run);
}

static bool
is_of_pending(const past *self, uint32_t to, uint32_t from, uint32_t graph_task) {
  return self->is_pending && self->pending.to == to && self->pending.node == from &&
         self->pending.graph_task == graph_task;
}

static bool
wants_gradient(const past *self) {
  return self->goal == TD_CHAIN_GOAL_gradient || !self->sees_queues;
}

/* A count falls just before or just after the gradient arrives. */
static void
take_gradient(past *self, const td_event_buffer_add *add) {
  bool belongs = is_of_pending(self, add->node, add->from, add->graph_task);
  bool is_next = !belongs && is_task(self, add->node, add->graph_task) && wants_gradient(self) &&
                 add->from != TD_NONE;
  if (is_next) wait_for_sender(self, TD_CHAIN_data, add->from);
  if (!is_next && (!belongs || self->pending.link == TD_CHAIN_data)) return;
  self->pending.link = TD_CHAIN_data;
  self->pending.edge = find_edge(self->walk->catalog, add->from, add->node, add->input_nr);
}

static void
take_count(past *self, const td_event_dependency_dec *dec) {
  if (is_of_pending(self, dec->node, dec->by, dec->graph_task)) {
    if (self->pending.left == TD_NONE) self->pending.left = dec->left;
  } else if (is_task(self, dec->node, dec->graph_task) && wants_gradient(self) &&
             dec->by != TD_NONE) {
    wait_for_sender(self, TD_CHAIN_state, dec->by);
    self->pending.left = dec->left;
  }
}

static void
take_push(past *self, const td_event_queue_push *push) {
  if (self->goal == TD_CHAIN_GOAL_gradient || !is_task(self, push->node, push->graph_task)) return;
  add_pending(self);
  self->goal = TD_CHAIN_GOAL_gradient;
  self->is_root = push->reason != TD_push_reason_ready;
}

/* A task that left the queue while this one lay there: its thread ran that one first. */
static void
take_earlier(past *self, const td_event_queue_pop *pop) {
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_queue;
  step.seq = self->walk->at;
  step.node = pop->node;
  step.to = self->node;
  step.graph_task = pop->graph_task;
  step.queue = pop->queue;
  step.thread = self->walk->thread = pop->event.thread;
  td_chain_walk_add(self->walk, step);
  go_on_with(self, pop->node, pop->graph_task, TD_CHAIN_GOAL_push);
}

static void
take_pop(past *self, const td_event_queue_pop *pop) {
  if (pop->node == TD_NONE) return;
  if (self->goal == TD_CHAIN_GOAL_run && is_task(self, pop->node, pop->graph_task)) {
    add_pending(self);
    self->walk->thread = pop->event.thread;
    self->queue = pop->queue;
    self->goal = TD_CHAIN_GOAL_push;
  } else if (self->goal == TD_CHAIN_GOAL_push && pop->queue == self->queue) {
    take_earlier(self, pop);
  }
}

/* Returns false at the end of the chain. */
static bool
take_begin(past *self, const td_event_graph_task_begin *begin) {
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_find(self->walk->catalog, self->graph_task);
  bool begins = self->is_root || self->node == begin->root || begin->n_roots > 1;
  if (!begins || !pass || !td_catalog_has_node(self->walk->catalog, pass->caller)) {
    add_pending(self);
    td_chain_walk_end(self->walk, begins ? TD_CHAIN_END_pass : TD_CHAIN_END_unknown, self->node,
                      self->graph_task);
    return false;
  }
  self->is_pending = false; /* nobody saw the run of the node */
  td_chain_step step = TD_CHAIN_STEP;
  step.link = TD_CHAIN_call;
  step.seq = self->walk->at;
  step.node = pass->caller;
  step.to = self->node;
  step.graph_task = self->graph_task;
  step.thread = self->walk->thread = begin->event.thread;
  td_chain_walk_add(self->walk, step);
  go_on_with(self, pass->caller, pass->outer, TD_CHAIN_GOAL_run);
  return true;
}

/* Does the event tell of the run of the task's node? */
static bool
is_of_run(const past *self) {
  const td_any_event *event = &self->walk->event;
  const td_event_type *type = td_event_type_get(event->event.kind);
  return type->visit.role != TD_VISIT_none && type->visit.role != TD_VISIT_value &&
         is_task(self, td_event_u32(&event->event, type->visit.node),
                 td_event_u32(&event->event, type->visit.graph_task));
}

/* Returns false at the end of the chain. */
static bool
take(past *self) {
  const td_any_event *event = &self->walk->event;
  if (self->is_pending && is_of_run(self)) add_pending(self);
  switch (event->event.kind) {
  case TD_EVENT_buffer_add:
    take_gradient(self, &event->buffer_add);
    break;
  case TD_EVENT_dependency_dec:
    take_count(self, &event->dependency_dec);
    break;
  case TD_EVENT_queue_push:
    take_push(self, &event->queue_push);
    break;
  case TD_EVENT_queue_pop:
    take_pop(self, &event->queue_pop);
    break;
  case TD_EVENT_graph_task_begin:
    if (event->graph_task_begin.graph_task == self->graph_task)
      return take_begin(self, &event->graph_task_begin);
    break;
  default:
    break;
  }
  return true;
}

static void
walk(past *self) {
  const td_tape_info *info = td_tape_info_get(td_replay_tape(self->walk->replay));
  self->sees_queues = info->known[TD_EVENT_queue_pop] != TD_knowledge_absent;
  while (td_chain_walk_back(self->walk))
    if (!take(self)) return;
  add_pending(self);
  td_chain_walk_stop(self->walk, self->node, self->graph_task);
}

void
td_chain_walk_past(td_chain_walk *walk_back, uint32_t node, uint32_t graph_task, uint32_t queue,
                   td_chain_goal goal) {
  past self = {
      .walk = walk_back, .node = node, .graph_task = graph_task, .queue = queue, .goal = goal};
  walk(&self);
}

/* A pass is over once its last node has ended. */
void
td_chain_walk_ended(td_chain_walk *walk_back, uint32_t graph_task) {
  past self = {.walk = walk_back, .graph_task = graph_task, .goal = TD_CHAIN_GOAL_run};
  while (td_chain_walk_back(walk_back)) {
    const td_any_event *event = &walk_back->event;
    if (event->event.kind != TD_EVENT_node_end || event->node_end.graph_task != graph_task)
      continue;
    td_chain_step step = TD_CHAIN_STEP;
    step.link = TD_CHAIN_state;
    step.seq = walk_back->at;
    step.node = event->node_end.node;
    step.graph_task = graph_task;
    step.thread = walk_back->thread = event->event.thread;
    td_chain_walk_add(walk_back, step);
    go_on_with(&self, event->node_end.node, graph_task, TD_CHAIN_GOAL_run);
    walk(&self);
    return;
  }
  td_chain_walk_stop(walk_back, TD_NONE, graph_task);
}
