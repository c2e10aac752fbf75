/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/sim.h"

#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/torch/tensor/storage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>

/* When what was launched on it will have ended. */
typedef struct sim_stream {
  _Atomic uint64_t end;
} sim_stream;

typedef struct sim_event {
  uint64_t time;
} sim_event;

static td_device_model models[TD_ACCELERATORS_MAX]; /* constant after td_device_setup */
bool td_sim_is_virtual;
static _Thread_local uint64_t virtual_now;

void
td_sim_add(td_device device, td_device_model model) {
  models[device] = model;
}

void
td_sim_set_virtual(void) {
  td_sim_is_virtual = true;
}

uint64_t
td_sim_now(void) {
  return td_sim_is_virtual ? virtual_now : td_clock_monotonic_ns();
}

void
td_sim_catch_up(uint64_t time) {
  virtual_now = TD_MAX(virtual_now, time);
}

/* Linux lets a sleep end 50 us late unless the thread asks for better: more than a whole small
 * kernel. */
static void
ask_for_precise_sleep(void) {
  static _Thread_local bool asked;
  if (!asked) prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
  asked = true;
}

static void
wait_until(uint64_t time) {
  if (td_sim_is_virtual) {
    td_sim_catch_up(time);
    return;
  }
  ask_for_precise_sleep();
  struct timespec deadline = {.tv_sec = (time_t)(time / 1000000000u),
                              .tv_nsec = (long)(time % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
    ;
}

static uint64_t
end_of(sim_stream *stream) {
  return atomic_load_explicit(&stream->end, memory_order_relaxed);
}

static void
set_end(sim_stream *stream, uint64_t end) {
  atomic_store_explicit(&stream->end, end, memory_order_relaxed);
}

static td_storage *
sim_storage_new(td_device device, size_t n_bytes) {
  return td_storage_new_host(n_bytes);
}

static void
sim_storage_free(td_device device, td_storage *storage) {
  free(storage);
}

static void *
sim_stream_new(td_device device) {
  return TD_NEW(sim_stream);
}

static bool
sim_stream_is_done(td_device device, void *stream) {
  return end_of(stream) <= td_sim_now();
}

static void
sim_stream_synchronize(td_device device, void *stream) {
  wait_until(end_of(stream));
}

static void *
sim_event_new(td_device device, void *stream) {
  sim_event *event = TD_NEW(sim_event);
  event->time = TD_MAX(end_of(stream), td_sim_now());
  return event;
}

static bool
sim_event_is_done(void *event) {
  return ((sim_event *)event)->time <= td_sim_now();
}

static void
sim_event_synchronize(void *event) {
  wait_until(((sim_event *)event)->time);
}

static double
sim_event_elapsed_ms(void *from, void *to) {
  return ((double)((sim_event *)to)->time - (double)((sim_event *)from)->time) / 1e6;
}

static void
sim_stream_wait(td_device device, void *stream, void *event) {
  set_end(stream, TD_MAX(end_of(stream), ((sim_event *)event)->time));
}

static void
sim_launch(td_device device, void *stream, td_kernel *kernel) {
  const td_device_model *model = &models[device];
  uint64_t now = td_sim_now(), begin = TD_MAX(now, end_of(stream));
  uint64_t took = model->latency_ns + (uint64_t)((double)kernel->n_bytes / model->bytes_per_ns);
  set_end(stream, begin + took);
  kernel->queued = begin - now;
  kernel->took = took;
}

const td_backend td_backend_sim = {
    .kind = "sim",
    .storage_new = sim_storage_new,
    .storage_free = sim_storage_free,
    .stream_new = sim_stream_new,
    .stream_is_done = sim_stream_is_done,
    .stream_synchronize = sim_stream_synchronize,
    .event_new = sim_event_new,
    .event_free = free,
    .event_is_done = sim_event_is_done,
    .event_synchronize = sim_event_synchronize,
    .event_elapsed_ms = sim_event_elapsed_ms,
    .stream_wait = sim_stream_wait,
    .launch = sim_launch,
};
