/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_walk.h"

#include "engine/base/alloc.h"

static void
forget_wait(td_chain_walk *self) {
  self->wait = TD_CHAIN_STEP;
  self->wait.seq = UINT64_MAX;
  self->wants_holder = false;
}

void
td_chain_walk_init(td_chain_walk *self, td_replay *replay, td_chain *chain, uint64_t at,
                   uint64_t n_most) {
  *self = (td_chain_walk){.replay = replay,
                          .catalog = td_replay_catalog(replay),
                          .chain = chain,
                          .at = at,
                          .n_most = n_most,
                          .thread = TD_NONE};
  forget_wait(self);
}

static void
note_end_of_wait(td_chain_walk *self, const td_event_lock_acquired *got) {
  self->wants_holder = false;
  if (self->wait.seq != UINT64_MAX && got->waited <= self->wait.ns) return;
  self->wait = TD_CHAIN_STEP;
  self->wait.link = TD_CHAIN_wait;
  self->wait.seq = self->at;
  self->wait.thread = self->thread;
  self->wait.lock = got->lock;
  self->wait.object = got->object;
  self->wait.ns = got->waited;
  self->wants_holder = true;
}

/* Who held the lock stands before the end of the wait. */
static void
note_wait(td_chain_walk *self) {
  if (self->event.event.thread != self->thread) return;
  if (self->event.event.kind == TD_EVENT_lock_acquired)
    note_end_of_wait(self, &self->event.lock_acquired);
  else if (self->event.event.kind == TD_EVENT_lock_held && self->wants_holder)
    self->wait.holder = self->event.lock_held.holder;
  else if (self->event.event.kind == TD_EVENT_lock_wait)
    self->wants_holder = false;
}

bool
td_chain_walk_back(td_chain_walk *self) {
  while (self->at > td_replay_first(self->replay)) {
    if (self->n_read == self->n_most) {
      self->chain->is_unfinished = true;
      return false;
    }
    self->n_read++;
    self->at--;
    if (td_replay_event(self->replay, self->at, &self->event, NULL) != TD_OK) continue;
    note_wait(self);
    return true;
  }
  self->is_at_start = true;
  return false;
}

void
td_chain_walk_add(td_chain_walk *self, td_chain_step step) {
  self->wait.node = step.to;
  self->wait.graph_task = step.graph_task;
  if (self->wait.seq != UINT64_MAX) td_chain_add(self->chain, self->wait);
  forget_wait(self);
  td_chain_add(self->chain, step);
}

void
td_chain_walk_end(td_chain_walk *self, td_chain_end end, uint32_t node, uint32_t graph_task) {
  td_chain_step step = TD_CHAIN_STEP;
  const td_chain_step *last = &self->chain->steps[self->chain->n - 1];
  step.link = TD_CHAIN_end;
  step.seq = TD_MIN(self->at, last->seq);
  step.node = step.to = node;
  step.graph_task = graph_task;
  step.thread =
      self->event.event.kind == TD_EVENT_graph_task_begin ? self->event.event.thread : TD_NONE;
  self->chain->end = end;
  td_chain_walk_add(self, step);
}

void
td_chain_walk_stop(td_chain_walk *self, uint32_t node, uint32_t graph_task) {
  td_chain_end end = !self->is_at_start                  ? TD_CHAIN_END_far
                     : td_replay_first(self->replay) > 0 ? TD_CHAIN_END_cut
                                                         : TD_CHAIN_END_unknown;
  td_chain_walk_end(self, end, node, graph_task);
}
