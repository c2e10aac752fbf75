/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/stream.h"

#include "engine/base/alloc.h"
#include "engine/base/refcount.h"
#include "engine/events/emit.h"
#include "engine/torch/device/backend.h"
#include "engine/torch/device/device_table.h"
#include "engine/torch/device/host_wait.h"
#include "engine/torch/device/specification.h"
#include "engine/torch/device/stream_table.h"

struct td_stream_event {
  td_refcount refs;
  td_stream stream;
  void *handle;             /* (owned) the backend's */
  td_ordering before;       /* (owned) what comes before the work that waits for it */
  uint32_t session, number; /* (guarded by td_stream_mutex) in that recording */
};

/* Guarded by td_stream_mutex. */
static struct { uint32_t session, n_events; /* events of that recording */ } numbered;

static _Thread_local struct {
  int32_t stream[TD_ACCELERATORS_MAX];
  td_device device;
} current;

td_stream
td_stream_new(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = td_stream_take_locked(device);
  td_stream_announce_locked(entry);
  pthread_mutex_unlock(&td_stream_mutex);
  return entry->stream;
}

int
td_stream_count(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  int n = td_stream_count_locked(device);
  pthread_mutex_unlock(&td_stream_mutex);
  return n > 0 ? n : 1;
}

td_stream
td_stream_default(td_device device) {
  return (td_stream){device, 0};
}

td_stream
td_stream_current(td_device device) {
  return (td_stream){device, device < 0 ? 0 : current.stream[device]};
}

void
td_stream_set_current(td_stream stream) {
  if (td_stream_is_some(stream)) current.stream[stream.device] = stream.number;
}

td_device
td_device_current(void) {
  return current.device;
}

void
td_device_set_current(td_device device) {
  if (device >= 0) current.device = device;
}

td_stream_guard
td_stream_guard_begin(td_stream stream) {
  td_stream_guard guard = {td_stream_current(stream.device), current.device};
  td_stream_set_current(stream);
  td_device_set_current(stream.device);
  return guard;
}

void
td_stream_guard_end(const td_stream_guard *guard) {
  if (!td_stream_is_some(guard->earlier)) return;
  td_stream_set_current(guard->earlier);
  current.device = guard->device;
}

/* The host has seen everything in `before` end. */
static void
host_saw(const td_ordering *before) {
  pthread_mutex_lock(&td_stream_mutex);
  td_ordering_join(td_stream_host_before_locked(), before);
  pthread_mutex_unlock(&td_stream_mutex);
}

/* A copy of the stream's ordering: all that was launched on it up to now. */
static td_ordering
before_now(td_stream_entry *entry) {
  td_ordering before = {0};
  pthread_mutex_lock(&td_stream_mutex);
  td_ordering_join(&before, &entry->before);
  pthread_mutex_unlock(&td_stream_mutex);
  return before;
}

bool
td_stream_is_done(td_stream stream) {
  if (!td_stream_is_some(stream)) return true;
  td_stream_entry *entry = td_stream_entry_of(stream);
  td_ordering before = before_now(entry);
  bool done = td_device_backend(stream.device)->stream_is_done(stream.device, entry->handle);
  if (done) host_saw(&before);
  td_ordering_fini(&before);
  return done;
}

void
td_stream_synchronize(td_stream stream) {
  if (!td_stream_is_some(stream)) return;
  td_stream_entry *entry = td_stream_entry_of(stream);
  td_ordering before = before_now(entry);
  const td_backend *backend = td_device_backend(stream.device);
  bool waits = td_host_wait_is_recorded() && !backend->stream_is_done(stream.device, entry->handle);
  td_host_wait wait = {0};
  if (waits) wait = td_host_wait_begin(stream, TD_NONE);
  backend->stream_synchronize(stream.device, entry->handle);
  td_host_wait_end(&wait);
  host_saw(&before);
  td_ordering_fini(&before);
}

void
td_device_synchronize(td_device device) {
  if (device < 0) return;
  pthread_mutex_lock(&td_stream_mutex);
  int n = td_stream_count_locked(device);
  pthread_mutex_unlock(&td_stream_mutex);
  for (int32_t i = 0; i < n; i++)
    td_stream_synchronize((td_stream){device, i});
}

static void
number_event_locked(td_stream_event *event) {
  uint32_t session = td_emit_session();
  if (!session || event->session == session) return;
  if (numbered.session != session) numbered.n_events = 0;
  numbered.session = event->session = session;
  event->number = numbered.n_events++;
}

td_stream_event *
td_stream_event_record(td_stream stream, uint32_t node) {
  td_stream_event *event = TD_NEW(td_stream_event);
  td_refcount_init(&event->refs);
  event->stream = stream;
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = td_stream_entry_locked(stream);
  event->handle = td_device_backend(stream.device)->event_new(stream.device, entry->handle);
  td_ordering_join(&event->before, &entry->before);
  number_event_locked(event);
  td_stream_announce_locked(entry);
  TD_EMIT_AT(td_stream_stamp_locked(), stream_record, .device = stream.device,
             .stream = stream.number, .stream_event = event->number, .node = node);
  pthread_mutex_unlock(&td_stream_mutex);
  return event;
}

void
td_stream_event_unref(td_stream_event *event) {
  if (!event || !td_refcount_dec(&event->refs)) return;
  td_device_backend(event->stream.device)->event_free(event->handle);
  td_ordering_fini(&event->before);
  free(event);
}

bool
td_stream_event_is_done(td_stream_event *event) {
  bool done = td_device_backend(event->stream.device)->event_is_done(event->handle);
  if (done) host_saw(&event->before);
  return done;
}

static uint32_t
number_of(td_stream_event *event) {
  pthread_mutex_lock(&td_stream_mutex);
  number_event_locked(event);
  uint32_t number = event->number;
  pthread_mutex_unlock(&td_stream_mutex);
  return number;
}

void
td_stream_event_synchronize(td_stream_event *event) {
  const td_backend *backend = td_device_backend(event->stream.device);
  bool waits = td_host_wait_is_recorded() && !backend->event_is_done(event->handle);
  td_host_wait wait = {0};
  if (waits) wait = td_host_wait_begin(event->stream, number_of(event));
  backend->event_synchronize(event->handle);
  td_host_wait_end(&wait);
  host_saw(&event->before);
}

double
td_stream_event_elapsed_ms(td_stream_event *from, td_stream_event *to) {
  return td_device_backend(from->stream.device)->event_elapsed_ms(from->handle, to->handle);
}

void
td_stream_wait(td_stream stream, td_stream_event *event, uint32_t node) {
  if (!td_stream_is_some(stream)) return;
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = td_stream_entry_locked(stream);
  td_device_backend(stream.device)->stream_wait(stream.device, entry->handle, event->handle);
  td_ordering_join(&entry->before, &event->before);
  number_event_locked(event);
  td_stream_announce_locked(entry);
  TD_EMIT_AT(td_stream_stamp_locked(), stream_wait, .device = stream.device,
             .stream = stream.number, .stream_event = event->number, .node = node);
  pthread_mutex_unlock(&td_stream_mutex);
}

void
td_stream_wait_stream(td_stream stream, td_stream other, uint32_t node) {
  if (!td_stream_is_some(stream) || !td_stream_is_some(other) || td_stream_equal(stream, other))
    return;
  td_stream_event *event = td_stream_event_record(other, node);
  td_stream_wait(stream, event, node);
  td_stream_event_unref(event);
}
