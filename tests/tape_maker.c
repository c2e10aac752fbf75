/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/tape_maker.h"

#include "engine/base/alloc.h"
#include "engine/trace/recorder.h"
#include "tests/tape_simulator.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

/* A thread that lends its ring to the simulator, which emits in its name while it sleeps. */
typedef struct lender {
  pthread_t thread;
  sem_t lent, done;
  td_ring *ring;
} lender;

typedef struct writer {
  td_ring *own;
  lender *lenders; /* (owned) for threads 1 and up */
  uint32_t n_threads;
  uint64_t last_time;
} writer;

static void *
lend_ring(void *data) {
  lender *self = data;
  td_emit_thread_id();
  self->ring = td_emit_ring;
  sem_post(&self->lent);
  sem_wait(&self->done);
  td_emit_ring = self->ring;
  return NULL;
}

static void
borrow_rings(writer *writer) {
  td_emit_thread_id();
  writer->own = td_emit_ring;
  writer->lenders = TD_NEW_N(lender, writer->n_threads);
  for (uint32_t i = 1; i < writer->n_threads; i++) {
    lender *lender = &writer->lenders[i];
    sem_init(&lender->lent, 0, 0);
    sem_init(&lender->done, 0, 0);
    if (pthread_create(&lender->thread, NULL, lend_ring, lender) != 0) abort();
    sem_wait(&lender->lent);
  }
}

static void
give_rings_back(writer *writer) {
  td_emit_ring = writer->own;
  for (uint32_t i = 1; i < writer->n_threads; i++) {
    lender *lender = &writer->lenders[i];
    sem_post(&lender->done);
    pthread_join(lender->thread, NULL);
    sem_destroy(&lender->lent);
    sem_destroy(&lender->done);
  }
  free(writer->lenders);
}

static td_ring *
ring_of(const writer *writer, uint32_t thread) {
  return thread == 0 || thread >= writer->n_threads ? writer->own : writer->lenders[thread].ring;
}

/* Thread numbers of a plan become those that the process gave. */
static void
translate_threads(const writer *writer, td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    uint32_t *at = (uint32_t *)(void *)((char *)event + type->fields[i].offset);
    if (type->fields[i].type == TD_FIELD_THREAD && *at < writer->n_threads)
      *at = ring_of(writer, *at)->thread;
  }
}

/* One thread plays them all: without a distance two of them would speak in the same nanosecond,
 * and the lower number would come first. */
#define APART_TICKS 8

static void
write_event(const td_any_event *told, void *data) {
  writer *writer = data;
  td_any_event event = *told;
  size_t size = event.event.size;
  translate_threads(writer, &event);
  td_emit_ring = ring_of(writer, event.event.thread);
  td_ring *ring = td_emit_reserve(size);
  if (!ring) return;
  event.event.thread = ring->thread;
  event.event.time = writer->last_time = TD_MAX(td_clock_now(), writer->last_time + APART_TICKS);
  memcpy(ring->bytes + (ring->head & ring->mask), &event, size);
  td_emit_publish(ring, event.event.time, size);
}

static td_status
record(const char *path, uint32_t n_threads,
       void (*tell)(void *source, td_tape_sink sink, void *data), void *source, td_error *error) {
  td_recorder_options options = {.engine = "tape maker", .version = "1", .source = "random graph"};
  td_recorder *recorder;
  td_status status = td_recorder_start(path, true, &options, &recorder, error);
  if (status != TD_OK) return status;
  writer writer = {.n_threads = n_threads};
  borrow_rings(&writer);
  tell(source, write_event, &writer);
  give_rings_back(&writer);
  return td_recorder_stop(recorder, 0, error);
}

static void
tell_script(void *source, td_tape_sink sink, void *data) {
  const td_tape_script *script = source;
  for (size_t i = 0; i < script->n; i++)
    sink(&script->events[i], data);
}

static void
tell_plan(void *source, td_tape_sink sink, void *data) {
  td_tape_simulate(source, sink, data);
}

td_status
td_tape_script_write(const td_tape_script *script, const char *path, td_error *error) {
  return record(path, script->n_threads, tell_script, (void *)script, error);
}

td_status
td_tape_make(const td_tape_plan *plan, const char *path, td_error *error) {
  return record(path, plan->n_threads, tell_plan, (void *)plan, error);
}

static void
keep_event(const td_any_event *event, void *data) {
  td_tape_script *script = data;
  TD_GROW(script->events, script->n, script->capacity);
  script->events[script->n++] = *event;
}

void
td_tape_script_make(td_tape_script *script, const td_tape_plan *plan) {
  *script = (td_tape_script){.n_threads = plan->n_threads};
  td_tape_simulate(plan, keep_event, script);
}

void
td_tape_script_fini(td_tape_script *script) {
  free(script->events);
  *script = (td_tape_script){0};
}
