/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/thread_waits.h"

#include "engine/base/alloc.h"

/* Of more threads that are in collective operations at once, only the first learn who came last.
 * Else a tape of very many threads would cost the square of their number. */
#define WATCHED_MAX 256u

typedef struct td_thread_wait {
  td_held_wait wait;
  td_wait_stretch stretch;
  bool is_on;
  uint32_t by;      /* node whose gradients the thread hands on, or TD_NONE */
  uint32_t process; /* of the thread */
} td_thread_wait;

/* Who pushed to a queue last, and when. */
typedef struct td_last_push {
  uint32_t thread, node;
  uint64_t ns;
  bool is_told;
} td_last_push;

static td_thread_wait *
thread_of(td_thread_waits *self, uint32_t thread) {
  TD_REACH(self->threads, self->n_threads, thread);
  if (!self->threads[thread]) {
    self->threads[thread] = TD_NEW(td_thread_wait);
    self->threads[thread]->by = TD_NONE;
  }
  return self->threads[thread];
}

static td_last_push *
queue_of(td_thread_waits *self, uint32_t queue) {
  TD_REACH(self->queues, self->n_queues, queue);
  return &self->queues[queue];
}

static td_thread_wait *
begin(td_thread_waits *self, const td_event *event, uint64_t seq, td_wait_kind kind,
      uint32_t object) {
  td_thread_wait *own = thread_of(self, event->thread);
  own->wait = (td_held_wait){.kind = kind,
                             .thread = event->thread,
                             .object = object,
                             .begin_seq = seq,
                             .begin_ns = event->time};
  own->stretch = (td_wait_stretch){.holder = TD_NONE, .node = TD_NONE, .first_ns = event->time};
  own->is_on = true;
  return own;
}

/* `held_until`: the holder held the waiting thread up until then. */
static void
end(td_thread_waits *self, td_thread_wait *own, const td_event *event, uint64_t held_until) {
  uint64_t begin_ns = own->wait.begin_ns, end_ns = TD_MAX(event->time, begin_ns);
  own->is_on = false;
  own->wait.end_ns = end_ns;
  own->wait.ns = end_ns - begin_ns;
  own->stretch.held_ns = TD_MIN(TD_MAX(held_until, begin_ns), end_ns) - begin_ns;
  own->stretch.late_ns = own->wait.ns - own->stretch.held_ns;
  own->wait.last_holder = own->stretch.holder;
  own->wait.stretches = &own->stretch;
  own->wait.n_stretches = 1;
  self->listener(&own->wait, self->data);
}

static bool
is_in(const td_thread_wait *own, td_wait_kind kind) {
  return own->is_on && own->wait.kind == kind;
}

/* ---- tasks ---- */

static void
note_push(td_thread_waits *self, const td_event *event, uint32_t queue) {
  *queue_of(self, queue) =
      (td_last_push){event->thread, thread_of(self, event->thread)->by, event->time, true};
}

static void
end_sleep(td_thread_waits *self, const td_event_queue_pop *event) {
  td_thread_wait *own = thread_of(self, event->event.thread);
  own->by = TD_NONE;
  if (!is_in(own, TD_WAIT_TASK)) return;
  const td_last_push *push = queue_of(self, event->queue);
  own->wait.object = event->queue;
  bool is_known = push->is_told && push->ns >= own->wait.begin_ns;
  if (is_known) {
    own->stretch.holder = push->thread;
    own->stretch.node = push->node;
    own->stretch.first_ns = push->ns;
  }
  end(self, own, &event->event, is_known ? push->ns : event->event.time);
}

static void
note_state(td_thread_waits *self, const td_event_thread_state *event, uint64_t seq) {
  td_thread_wait *own = thread_of(self, event->event.thread);
  if (event->state == TD_thread_activity_idle)
    begin(self, &event->event, seq, TD_WAIT_TASK, TD_NONE);
  else if (is_in(own, TD_WAIT_TASK))
    own->is_on = false;
}

/* ---- collective operations ---- */

static void
leave(td_thread_waits *self, uint32_t thread) {
  uint32_t at = 0;
  while (at < self->n_in_collectives && self->in_collectives[at] != thread)
    at++;
  if (at < self->n_in_collectives)
    self->in_collectives[at] = self->in_collectives[--self->n_in_collectives];
}

static void
begin_collective(td_thread_waits *self, const td_event_collective_begin *event, uint64_t seq) {
  uint32_t thread = event->event.thread;
  td_thread_wait *own = thread_of(self, thread);
  for (uint32_t i = 0; i < TD_MIN(self->n_in_collectives, WATCHED_MAX); i++) {
    td_thread_wait *other = self->threads[self->in_collectives[i]];
    if (other->process == own->process || !is_in(other, TD_WAIT_COLLECTIVE)) continue;
    other->stretch.holder = thread;
    other->stretch.first_ns = event->event.time;
  }
  if (is_in(own, TD_WAIT_COLLECTIVE)) leave(self, thread);
  begin(self, &event->event, seq, TD_WAIT_COLLECTIVE, event->operation);
  TD_GROW(self->in_collectives, self->n_in_collectives, self->capacity);
  self->in_collectives[self->n_in_collectives++] = thread;
}

static void
end_collective(td_thread_waits *self, const td_event *event) {
  td_thread_wait *own = thread_of(self, event->thread);
  if (!is_in(own, TD_WAIT_COLLECTIVE)) return;
  leave(self, event->thread);
  end(self, own, event, own->stretch.holder == TD_NONE ? event->time : own->stretch.first_ns);
}

/* ---- streams ---- */

static void
begin_stream(td_thread_waits *self, const td_event_synchronize_begin *event, uint64_t seq) {
  td_thread_wait *own = begin(self, &event->event, seq, TD_WAIT_STREAM, TD_NONE);
  own->wait.device = event->device;
  own->wait.stream = event->stream;
}

static void
end_stream(td_thread_waits *self, const td_event *event) {
  td_thread_wait *own = thread_of(self, event->thread);
  if (is_in(own, TD_WAIT_STREAM)) end(self, own, event, event->time);
}

void
td_thread_waits_take(td_thread_waits *self, const td_any_event *any, uint64_t seq) {
  switch (any->event.kind) {
  case TD_EVENT_thread_new:
    thread_of(self, any->thread_new.id)->process = any->thread_new.process;
    return;
  case TD_EVENT_dependency_dec:
    thread_of(self, any->event.thread)->by = any->dependency_dec.by;
    return;
  case TD_EVENT_queue_push:
    return note_push(self, &any->event, any->queue_push.queue);
  case TD_EVENT_queue_wake:
    return note_push(self, &any->event, any->queue_wake.queue);
  case TD_EVENT_queue_pop:
    return end_sleep(self, &any->queue_pop);
  case TD_EVENT_thread_state:
    return note_state(self, &any->thread_state, seq);
  case TD_EVENT_collective_begin:
    return begin_collective(self, &any->collective_begin, seq);
  case TD_EVENT_collective_end:
    return end_collective(self, &any->event);
  case TD_EVENT_synchronize_begin:
    return begin_stream(self, &any->synchronize_begin, seq);
  case TD_EVENT_synchronize_end:
    return end_stream(self, &any->event);
  default:
    return;
  }
}

void
td_thread_waits_fini(td_thread_waits *self) {
  for (uint32_t i = 0; i < self->n_threads; i++)
    free(self->threads[i]);
  free(self->threads);
  free(self->queues);
  free(self->in_collectives);
  self->threads = NULL;
  self->queues = NULL;
  self->in_collectives = NULL;
  self->n_threads = self->n_queues = self->n_in_collectives = self->capacity = 0;
}
