/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/gil_waits.h"

#include "engine/profile/sentence.h"

/* So many events before one are looked at. */
#define EVENTS_MAX 100000

typedef struct looking {
  uint32_t thread, node, graph_task;
  td_event_kind start; /* of the time in question */
  bool found_start;
  uint32_t n_looked;
  uint32_t n, longest;     /* waits; the number of the longest, from the latest on */
  uint64_t ns, longest_ns; /* of all; of the longest */
  uint32_t n_seen;         /* by is_longest */
} looking;

static bool
is_of_gil(const looking *self, const td_any_event *event, td_event_kind kind) {
  if (event->event.kind != kind || event->event.thread != self->thread) return false;
  switch (kind) {
  case TD_EVENT_lock_wait:
    return event->lock_wait.lock == TD_lock_kind_gil;
  case TD_EVENT_lock_held:
    return event->lock_held.lock == TD_lock_kind_gil;
  default:
    return event->lock_acquired.lock == TD_lock_kind_gil;
  }
}

static bool
is_start(const looking *self, const td_any_event *event) {
  if (event->event.kind != self->start) return false;
  switch (self->start) {
  case TD_EVENT_queue_push:
    return event->queue_push.node == self->node && event->queue_push.graph_task == self->graph_task;
  case TD_EVENT_queue_pop:
    return event->queue_pop.node == self->node && event->queue_pop.graph_task == self->graph_task;
  default:
    return event->node_begin.node == self->node && event->node_begin.graph_task == self->graph_task;
  }
}

static bool
look(const td_any_event *event, void *data) {
  looking *self = data;
  if (is_of_gil(self, event, TD_EVENT_lock_acquired)) {
    uint64_t waited = event->lock_acquired.waited;
    self->n++;
    self->ns += waited;
    if (self->n == 1 || waited > self->longest_ns) {
      self->longest = self->n;
      self->longest_ns = waited;
    }
  }
  self->found_start = is_start(self, event);
  return self->found_start || ++self->n_looked == EVENTS_MAX;
}

static bool
is_longest(const td_any_event *event, void *data) {
  looking *self = data;
  if (!is_of_gil(self, event, TD_EVENT_lock_acquired)) return false;
  return ++self->n_seen == self->longest;
}

/* What is before the end of another wait is of that one. */
static bool
is_begin_of_wait(const td_any_event *event, void *data) {
  const looking *self = data;
  return is_of_gil(self, event, TD_EVENT_lock_wait) || is_of_gil(self, event, TD_EVENT_lock_held) ||
         is_of_gil(self, event, TD_EVENT_lock_acquired);
}

/* What is said of who had the GIL: nothing is known, it was at no node, it was at one. */
typedef struct holder_words {
  td_sentence unknown, idle, at;
} holder_words;

static const holder_words in_longest = {TD_SAY_gil_longest, TD_SAY_gil_longest_idle,
                                        TD_SAY_gil_longest_at};
static const holder_words at_begin = {TD_SAY_gil_begin, TD_SAY_gil_begin_idle, TD_SAY_gil_begin_at};

/* Where the thread was at when the wait began that ended with event seq. */
static void
say_holder(FILE *out, const holder_words *words, td_replay *replay, looking *self, uint64_t seq) {
  const td_catalog *catalog = td_replay_catalog(replay);
  td_any_event event;
  uint64_t begin;
  bool is_known =
      td_replay_find(replay, seq, false, is_begin_of_wait, self, &begin, NULL) == TD_OK &&
      td_replay_event(replay, begin, &event, NULL) == TD_OK &&
      event.event.kind == TD_EVENT_lock_held && td_replay_seek(replay, begin + 1, NULL) == TD_OK;
  uint32_t holder = is_known ? event.lock_held.holder : TD_NONE;
  uint32_t node = is_known ? td_state_thread(td_replay_state(replay), holder)->node : TD_NONE;
  td_sentence sentence = node == TD_NONE ? words->idle : words->at;
  td_say(out, catalog, is_known ? sentence : words->unknown, td_with_ms("ms", self->longest_ns),
         td_with_thread("holder", holder), td_with_node_whole("node", node));
}

static void
say_waits(FILE *out, td_replay *replay, looking *self, uint64_t seq) {
  uint64_t longest;
  if (td_replay_find(replay, seq, false, look, self, &longest, NULL) != TD_OK) return;
  if (!self->found_start || !self->n) return;
  if (td_replay_find(replay, seq, false, is_longest, self, &longest, NULL) != TD_OK) return;
  td_say(out, td_replay_catalog(replay), TD_SAY_gil_waits, td_with_thread("thread", self->thread),
         td_with_number("n", self->n), td_with_ms("ms", self->ns));
  say_holder(out, &in_longest, replay, self, longest);
}

static looking
looking_at(const td_any_event *event) {
  looking self = {.thread = event->event.thread, .node = TD_NONE};
  if (event->event.kind == TD_EVENT_queue_pop) {
    self.start = TD_EVENT_queue_push;
    self.node = event->queue_pop.node;
    self.graph_task = event->queue_pop.graph_task;
  } else if (event->event.kind == TD_EVENT_node_begin) {
    self.start = TD_EVENT_queue_pop;
    self.node = event->node_begin.node;
    self.graph_task = event->node_begin.graph_task;
  } else if (event->event.kind == TD_EVENT_node_end) {
    self.start = TD_EVENT_node_begin;
    self.node = event->node_end.node;
    self.graph_task = event->node_end.graph_task;
  }
  return self;
}

void
td_gil_waits_say(FILE *out, td_replay *replay, uint64_t seq, const td_any_event *event) {
  looking self = looking_at(event);
  if (is_of_gil(&self, event, TD_EVENT_lock_acquired))
    say_holder(out, &at_begin, replay, &self, seq);
  else if (self.node != TD_NONE)
    say_waits(out, replay, &self, seq);
}
