/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/lock_words.h"

#include "engine/base/alloc.h"
#include "engine/profile/held_waits.h"
#include "engine/profile/sentence.h"

/* So many events of a wait are looked at, so many waits are told, with so many holders each. */
#define EVENTS_MAX 100000
#define WAITS_MAX 3
#define HOLDERS_MAX 3

typedef struct telling {
  FILE *out;
  td_replay *replay;
  uint32_t thread, n_looked;
  bool has_ended; /* the wait, at the event */
  bool is_told;
} telling;

/* ---- words ---- */

static char *
dup_lock(const td_catalog *catalog, const td_held_wait *wait) {
  td_blank object = {0};
  if (wait->lock == TD_lock_kind_gil) return td_dup_string(td_sentence_text(TD_SAY_gil));
  if (wait->lock == TD_lock_kind_queue)
    object = td_with_queue("object", wait->object);
  else if (wait->lock == TD_lock_kind_graph_task)
    object = td_with_pass("object", wait->object);
  else
    object = td_with_node_whole("object", wait->object);
  return td_said(catalog, TD_SAY_lock_of, object);
}

static void
say_stretches(const telling *self, const td_catalog *catalog, const td_held_wait *wait) {
  uint64_t late_ns = 0;
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    const td_wait_stretch *stretch = &wait->stretches[i];
    late_ns += stretch->late_ns;
    if (i >= HOLDERS_MAX || stretch->holder == TD_NONE) continue;
    td_say(self->out, catalog, stretch->is_bound ? TD_SAY_lock_held_most : TD_SAY_lock_held,
           td_with_thread("holder", stretch->holder), td_with_ms("ms", stretch->held_ns));
  }
  if (wait->n_stretches > HOLDERS_MAX)
    td_say(self->out, catalog, TD_SAY_lock_held_more,
           td_with_number("n", wait->n_stretches - HOLDERS_MAX));
  if (late_ns)
    td_say(self->out, catalog, TD_SAY_lock_late, td_with_thread("thread", wait->thread),
           td_with_ms("ms", late_ns));
}

static void
wait_cb(const td_held_wait *wait, void *data) {
  telling *self = data;
  const td_catalog *catalog = td_replay_catalog(self->replay);
  if (wait->thread != self->thread || self->is_told) return;
  self->is_told = true;
  char *lock = dup_lock(catalog, wait);
  td_say(self->out, catalog, TD_SAY_lock_wait_ms, td_with_thread("thread", wait->thread),
         td_with_text("lock", lock), td_with_number("seq", wait->begin_seq),
         td_with_ms("ms", wait->ns));
  free(lock);
  say_stretches(self, catalog, wait);
}

/* ---- finding a wait ---- */

static bool
is_begin(const td_any_event *event, void *data) {
  telling *self = data;
  bool is_it = event->event.kind == TD_EVENT_lock_wait && event->event.thread == self->thread;
  return is_it || ++self->n_looked == EVENTS_MAX;
}

static void
say_old_wait(const telling *self) {
  const td_state *state = td_replay_state(self->replay);
  if (self->has_ended) return td_say_plain(self->out, TD_SAY_lock_wait_over);
  bool is_gil = td_state_thread(state, self->thread)->lock == TD_lock_kind_gil;
  td_say(self->out, td_replay_catalog(self->replay),
         is_gil ? TD_SAY_lock_wait_before_gil : TD_SAY_lock_wait_before,
         td_with_thread("thread", self->thread));
}

/* Goes through the events of the wait that the thread is in before event seq + 1. */
static void
say_wait(telling *self, uint64_t seq) {
  uint64_t begin;
  if (td_replay_find(self->replay, seq + 1, false, is_begin, self, &begin, NULL) != TD_OK ||
      self->n_looked == EVENTS_MAX)
    return say_old_wait(self);
  td_held_waits waits = {.listener = wait_cb, .data = self};
  td_any_event event;
  for (uint64_t i = begin; i - begin < EVENTS_MAX && !self->is_told; i++) {
    if (td_replay_event(self->replay, i, &event, NULL) != TD_OK) break;
    td_held_waits_take(&waits, &event, i, event.event.time);
  }
  td_held_waits_fini(&waits);
  if (self->is_told) return;
  td_say(self->out, td_replay_catalog(self->replay), TD_SAY_lock_wait_on,
         td_with_thread("thread", self->thread), td_with_number("seq", begin));
}

void
td_lock_waits_say(FILE *out, td_replay *replay, uint64_t seq, const td_any_event *event) {
  const td_catalog *catalog = td_replay_catalog(replay);
  const td_state *state = td_replay_state(replay);
  uint32_t n = 0;
  for (uint32_t i = 0; i < catalog->n_threads && n < WAITS_MAX; i++) {
    bool ends = event->event.kind == TD_EVENT_lock_acquired && event->event.thread == i;
    if (!ends && td_state_thread(state, i)->lock == TD_NONE) continue;
    say_wait(&(telling){.out = out, .replay = replay, .thread = i, .has_ended = ends}, seq);
    n++;
  }
}
