/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/queue_waits.h"

#include "engine/base/alloc.h"
#include "engine/events/event_type.h"

#include <string.h>

typedef struct td_queue_wait {
  uint32_t n_tasks;
  uint32_t server; /* 1 + the thread that popped last, or 0 */
  uint64_t since;  /* of the clock: counted up to then */
  td_lay lay;
} td_queue_wait;

/* A thread that takes tasks. */
typedef struct td_server {
  uint32_t queue; /* 1 + the one it popped from last, or 0 */
  td_lay_cause now;
  bool is_asleep, waits;
  td_lay_cause waits_for;
} td_server;

static const struct {
  const char *name, *words;
} names[TD_N_LAY_CAUSES] = {
#define X(name, words) {#name, words},
    TD_LAY_CAUSES(X)
#undef X
};

const char *
td_lay_cause_name(td_lay_cause cause) {
  return names[cause].name;
}

const char *
td_lay_cause_words(td_lay_cause cause) {
  return names[cause].words;
}

#define OBTAIN(array, n, i)                                                                        \
  do {                                                                                             \
    if ((i) >= (n)) {                                                                              \
      uint32_t more = TD_MAX(TD_MAX(2 * (n), 8u), (i) + 1);                                        \
      (array) = td_realloc(array, more, sizeof *(array));                                          \
      memset((array) + (n), 0, (more - (n)) * sizeof *(array));                                    \
      (n) = more;                                                                                  \
    }                                                                                              \
  } while (0)

static td_queue_wait *
queue_of(td_queue_waits *self, uint32_t queue) {
  OBTAIN(self->queues, self->n_queues, queue);
  return &self->queues[queue];
}

static td_server *
server_of(td_queue_waits *self, uint32_t thread) {
  OBTAIN(self->servers, self->n_servers, thread);
  return &self->servers[thread];
}

static void
credit(const td_queue_waits *self, td_queue_wait *queue, uint64_t now, bool counts) {
  td_lay_cause cause = queue->server ? self->servers[queue->server - 1].now : TD_LAY_unknown;
  if (queue->n_tasks && counts) queue->lay.ns[cause] += now - TD_MIN(queue->since, now);
  queue->since = now;
}

static void
resize(td_queue_waits *self, const td_any_event *any, uint64_t now, bool counts) {
  const td_event_type *type = td_event_type_get(any->event.kind);
  uint32_t number = td_event_u32(&any->event, type->sample.queue);
  if (number == TD_NONE) return;
  td_queue_wait *queue = queue_of(self, number);
  credit(self, queue, now, counts);
  queue->n_tasks = td_event_u32(&any->event, type->sample.size);
  if (any->event.kind != TD_EVENT_queue_pop) return;
  td_server *server = server_of(self, any->event.thread);
  queue->server = 1 + any->event.thread;
  server->queue = 1 + number;
}

static void
note_wait(td_server *server, const td_any_event *any) {
  server->is_asleep = any->event.kind == TD_EVENT_thread_state &&
                      any->thread_state.state == TD_thread_activity_idle;
  if (any->event.kind == TD_EVENT_lock_wait) {
    server->waits = true;
    server->waits_for = any->lock_wait.lock == TD_lock_kind_gil ? TD_LAY_gil : TD_LAY_lock;
  }
  if (any->event.kind == TD_EVENT_lock_acquired) server->waits = false;
}

static td_lay_cause
cause_of(const td_server *server, const td_lives *lives, uint32_t thread) {
  if (server->waits) return server->waits_for;
  if (server->is_asleep) return TD_LAY_asleep;
  return td_lives_is_busy(lives, thread) ? TD_LAY_running : TD_LAY_engine;
}

void
td_queue_waits_take(td_queue_waits *self, const td_lives *lives, const td_any_event *any,
                    uint64_t now, bool counts) {
  if (any->event.kind == TD_EVENT_kernel_begin || any->event.kind == TD_EVENT_kernel_end) return;
  uint32_t thread = any->event.thread;
  td_server *server = server_of(self, thread);
  if (server->queue) credit(self, queue_of(self, server->queue - 1), now, counts);
  if (td_event_type_get(any->event.kind)->lane == TD_LANE_queue) resize(self, any, now, counts);
  server = server_of(self, thread);
  note_wait(server, any);
  server->now = cause_of(server, lives, thread);
}

td_lay
td_queue_waits_get(const td_queue_waits *self, uint32_t queue) {
  return queue < self->n_queues ? self->queues[queue].lay : (td_lay){{0}};
}

void
td_queue_waits_fini(td_queue_waits *self) {
  free(self->queues);
  free(self->servers);
}
