/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/held_waits.h"

#include "engine/base/alloc.h"

/* Of more threads that wait at once, only the first holder counts. Else a tape of very many threads
 * would cost the square of their number. */
#define WATCHED_MAX 256u

typedef enum lock_is { UNKNOWN, HELD, PERHAPS_HELD, FREE } lock_is;

/* The wait of a thread. */
typedef struct td_waiting {
  td_held_wait wait;
  bool is_on;
  uint64_t until; /* of the clock: shared out up to then */
  lock_is lock_is;
  uint32_t holder, node;
  uint32_t freed_by;          /* the last one that gave it back, or TD_NONE */
  td_wait_stretch *stretches; /* (owned) */
  uint32_t n, capacity;
  uint32_t last; /* stretch */
} td_waiting;

static uint32_t
node_of(const td_held_waits *self, uint32_t thread) {
  return self->node_of ? self->node_of(thread, self->data) : TD_NONE;
}

/* ---- one wait ---- */

static td_wait_stretch *
stretch_of(td_waiting *self, uint32_t holder, uint32_t node) {
  for (uint32_t i = 0; i < self->n; i++)
    if (self->stretches[i].holder == holder && self->stretches[i].node == node) {
      self->last = i;
      return &self->stretches[i];
    }
  TD_GROW(self->stretches, self->n, self->capacity);
  self->last = self->n++;
  self->stretches[self->last] =
      (td_wait_stretch){.holder = holder, .node = node, .first_ns = self->until};
  return &self->stretches[self->last];
}

static void
share_out(td_waiting *self, uint64_t now) {
  uint64_t ns = now - TD_MIN(self->until, now);
  if (!ns) return;
  if (self->lock_is == FREE)
    self->stretches[self->last].late_ns += ns;
  else if (self->lock_is == UNKNOWN)
    stretch_of(self, TD_NONE, TD_NONE)->held_ns += ns;
  else
    stretch_of(self, self->holder, self->node)->held_ns += ns;
  self->until = now;
}

static void
give(td_waiting *self, lock_is how, uint32_t holder, uint32_t node, uint64_t now) {
  share_out(self, now);
  self->lock_is = how;
  self->holder = holder;
  self->node = node;
  if (how == HELD) stretch_of(self, holder, node);
}

static void
take_back(const td_held_waits *waits, td_waiting *self, uint32_t thread, uint64_t now) {
  if (self->holder != thread || self->lock_is == FREE || self->lock_is == UNKNOWN) return;
  share_out(self, now);
  self->lock_is = FREE;
  self->holder = TD_NONE;
  self->freed_by = thread;
  if (waits->freed) waits->freed(self->wait.thread, thread, waits->data);
}

/* A thread at a node waits for its lock: it did not have it. */
static void
retract(const td_held_waits *waits, td_waiting *self, uint32_t thread, uint64_t now) {
  if (self->holder != thread) return;
  if (self->lock_is != PERHAPS_HELD) return take_back(waits, self, thread, now);
  self->lock_is = FREE;
  self->holder = TD_NONE;
}

/* ---- all waits ---- */

static bool
is_for(const td_waiting *waiting, uint32_t lock, uint32_t object) {
  return waiting->wait.lock == lock && waiting->wait.object == object;
}

static td_waiting *
waiting_of(td_held_waits *self, uint32_t thread) {
  TD_REACH(self->threads, self->n_threads, thread);
  if (!self->threads[thread]) self->threads[thread] = TD_NEW(td_waiting);
  return self->threads[thread];
}

static uint32_t
n_watched(const td_held_waits *self) {
  return TD_MIN(self->n_waiting, WATCHED_MAX);
}

static void
begin(td_held_waits *self, const td_event_lock_wait *event, uint64_t seq, uint64_t now) {
  uint32_t thread = event->event.thread;
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *other = self->threads[self->waiting[i]];
    if (is_for(other, event->lock, event->object)) retract(self, other, thread, now);
  }
  td_waiting *waiting = waiting_of(self, thread);
  if (!waiting->is_on) {
    TD_GROW(self->waiting, self->n_waiting, self->capacity);
    self->waiting[self->n_waiting++] = thread;
  }
  waiting->wait = (td_held_wait){.thread = thread,
                                 .lock = event->lock,
                                 .object = event->object,
                                 .begin_seq = seq,
                                 .begin_ns = event->event.time};
  waiting->is_on = true;
  waiting->until = now;
  waiting->lock_is = UNKNOWN;
  waiting->holder = waiting->freed_by = TD_NONE;
  waiting->n = waiting->last = 0;
}

static void
hold(td_held_waits *self, const td_event_lock_held *event, uint64_t now) {
  uint32_t holder = event->holder, node = node_of(self, holder);
  td_waiting *own = waiting_of(self, event->event.thread);
  if (own->is_on) give(own, HELD, holder, node, now);
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *other = self->threads[self->waiting[i]];
    bool is_news = other->holder != holder && other->wait.thread != holder;
    if (is_for(other, event->lock, event->object) && is_news) give(other, HELD, holder, node, now);
  }
}

/* The event of its end says how long a wait took, to the ns. What is missing was at its begin. */
static void
settle(td_waiting *self, uint64_t ns) {
  uint64_t sum = 0;
  if (!self->n) stretch_of(self, TD_NONE, TD_NONE);
  for (uint32_t i = 0; i < self->n; i++)
    sum += self->stretches[i].held_ns + self->stretches[i].late_ns;
  if (ns > sum) self->stretches[0].held_ns += ns - sum;
  for (uint32_t i = 0; i < self->n && sum > ns; i++) {
    td_wait_stretch *stretch = &self->stretches[i];
    uint64_t held = TD_MIN(stretch->held_ns, sum - ns);
    uint64_t late = TD_MIN(stretch->late_ns, sum - ns - held);
    stretch->held_ns -= held;
    stretch->late_ns -= late;
    sum -= held + late;
  }
}

static uint64_t
part_of(const td_held_waits *self, const td_event_lock_acquired *event) {
  uint64_t end = event->event.time;
  return self->range.is_set ? td_range_part(&self->range, end - TD_MIN(event->waited, end), end)
                            : event->waited;
}

static void
end(td_held_waits *self, const td_event_lock_acquired *event, uint64_t now) {
  uint32_t thread = event->event.thread, at = 0;
  td_waiting *own = waiting_of(self, thread);
  if (!own->is_on) return;
  while (self->waiting[at] != thread)
    at++;
  share_out(own, now);
  own->wait.ns = part_of(self, event);
  settle(own, own->wait.ns);
  own->wait.was_freed = own->lock_is == FREE;
  own->wait.last_holder = own->wait.was_freed ? own->freed_by : own->holder;
  if (!own->wait.was_freed) own->stretches[own->last].is_bound = true;
  self->waiting[at] = self->waiting[--self->n_waiting];
  own->is_on = false;
  own->wait.end_ns = event->event.time;
  own->wait.stretches = own->stretches;
  own->wait.n_stretches = own->n;
  self->listener(&own->wait, self->data);
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *other = self->threads[self->waiting[i]];
    if (is_for(other, event->lock, event->object))
      give(other, HELD, thread, node_of(self, thread), now);
  }
}

/* A thread took a lock, or that follows from what it does. */
static void
note_taken(td_held_waits *self, lock_is how, uint32_t lock, uint32_t object, uint32_t thread,
           uint32_t node, uint64_t now) {
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *waiting = self->threads[self->waiting[i]];
    if (waiting->lock_is == FREE && waiting->wait.thread != thread && is_for(waiting, lock, object))
      give(waiting, how, thread, node, now);
  }
}

static void
note_given_back(td_held_waits *self, uint32_t lock, uint32_t object, uint32_t thread,
                uint64_t now) {
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *waiting = self->threads[self->waiting[i]];
    if (is_for(waiting, lock, object)) take_back(self, waiting, thread, now);
  }
}

/* A thread that does something else has no lock of a queue or a graph task. */
static void
note_away(td_held_waits *self, uint32_t thread, uint64_t now) {
  for (uint32_t i = 0; i < n_watched(self); i++) {
    td_waiting *waiting = self->threads[self->waiting[i]];
    if (waiting->wait.lock == TD_lock_kind_queue || waiting->wait.lock == TD_lock_kind_graph_task)
      take_back(self, waiting, thread, now);
  }
}

/* What tells of locks only while a thread waits. */
static void
note(td_held_waits *self, const td_any_event *any, uint64_t now) {
  uint32_t thread = any->event.thread;
  switch (any->event.kind) {
  case TD_EVENT_lock_released:
    return note_given_back(self, any->lock_released.lock, any->lock_released.object, thread, now);
  case TD_EVENT_node_begin:
    note_away(self, thread, now);
    return note_taken(self, PERHAPS_HELD, TD_lock_kind_node, any->node_begin.node, thread,
                      any->node_begin.node, now);
  case TD_EVENT_node_end:
    return note_given_back(self, TD_lock_kind_node, any->node_end.node, thread, now);
  case TD_EVENT_dependency_dec:
    return note_taken(self, HELD, TD_lock_kind_graph_task, any->dependency_dec.graph_task, thread,
                      any->dependency_dec.by, now);
  case TD_EVENT_outstanding:
  case TD_EVENT_queue_pop:
  case TD_EVENT_thread_state:
    return note_away(self, thread, now);
  default:
    return;
  }
}

void
td_held_waits_take(td_held_waits *self, const td_any_event *any, uint64_t seq, uint64_t now) {
  if (any->event.kind == TD_EVENT_lock_wait) return begin(self, &any->lock_wait, seq, now);
  if (!self->n_waiting) return;
  if (any->event.kind == TD_EVENT_lock_held) return hold(self, &any->lock_held, now);
  if (any->event.kind == TD_EVENT_lock_acquired) return end(self, &any->lock_acquired, now);
  note(self, any, now);
}

const td_wait_stretch *
td_held_wait_longest(const td_held_wait *wait) {
  const td_wait_stretch *longest = NULL;
  for (uint32_t i = 0; i < wait->n_stretches; i++)
    if (!longest || wait->stretches[i].held_ns > longest->held_ns) longest = &wait->stretches[i];
  return longest;
}

void
td_held_waits_fini(td_held_waits *self) {
  for (uint32_t i = 0; i < self->n_threads; i++) {
    if (self->threads[i]) free(self->threads[i]->stretches);
    free(self->threads[i]);
  }
  free(self->threads);
  free(self->waiting);
  self->threads = NULL;
  self->n_threads = self->n_waiting = 0;
}
