/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/gil_waits.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/words.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Where the thread was at when the wait began that ended with event seq. */
static void
write_holder(td_replay *replay, looking *self, uint64_t seq, FILE *out) {
  const td_catalog *catalog = td_replay_catalog(replay);
  td_any_event event;
  uint64_t begin;
  bool is_known =
      td_replay_find(replay, seq, false, is_begin_of_wait, self, &begin, NULL) == TD_OK &&
      td_replay_event(replay, begin, &event, NULL) == TD_OK &&
      event.event.kind == TD_EVENT_lock_held && td_replay_seek(replay, begin + 1, NULL) == TD_OK;
  if (!is_known) {
    fputs(td_translate("the tape does not say who had the GIL."), out);
    return;
  }
  td_words_thread(out, catalog, event.lock_held.holder);
  uint32_t node = td_state_thread(td_replay_state(replay), event.lock_held.holder)->node;
  if (node == TD_NONE) {
    fputs(td_translate(" had the GIL, at no node."), out);
    return;
  }
  fputs(td_translate(" had the GIL, at "), out);
  td_words_node_whole(out, catalog, node);
  fputs(td_translate("."), out);
}

static void
write_waits(td_replay *replay, looking *self, uint64_t seq, FILE *out) {
  uint64_t longest;
  if (td_replay_find(replay, seq, false, look, self, &longest, NULL) != TD_OK) return;
  if (!self->found_start || !self->n) return;
  if (td_replay_find(replay, seq, false, is_longest, self, &longest, NULL) != TD_OK) return;
  fputs(td_translate(" In that time "), out);
  td_words_thread(out, td_replay_catalog(replay), self->thread);
  fputs(td_translate(" waited "), out);
  td_words_plural(out, self->n, "time", "times");
  fprintf(out, td_translate(" for Python's GIL, %.3f ms in all. In the longest wait, %.3f ms, "),
          (double)self->ns / 1e6, (double)self->longest_ns / 1e6);
  write_holder(replay, self, longest, out);
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

char *
td_gil_waits_tell(td_replay *replay, uint64_t seq, const td_any_event *event) {
  char *text = NULL;
  size_t size;
  looking self = looking_at(event);
  bool is_end_of_wait = is_of_gil(&self, event, TD_EVENT_lock_acquired);
  if (self.node == TD_NONE && !is_end_of_wait) return td_dup_string("");
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  if (is_end_of_wait) {
    fputs(td_translate(" When the wait began, "), out);
    write_holder(replay, &self, seq, out);
  } else {
    write_waits(replay, &self, seq, out);
  }
  fclose(out);
  return text;
}
