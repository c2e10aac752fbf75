/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/device/stream.h"

#include "engine/base/alloc.h"
#include "engine/device/backend.h"
#include "engine/device/device.h"
#include "engine/device/memory.h"
#include "engine/device/stream_table.h"
#include "engine/events/emit.h"

#include <stdatomic.h>

struct td_stream_event {
  td_refcount refs;
  td_stream stream;
  void *handle;             /* (owned) the backend's */
  td_ordering before;       /* (owned) what comes before whoever waits for it */
  uint32_t session, number; /* (guarded by td_stream_mutex) in that recording */
};

pthread_mutex_t td_stream_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by td_stream_mutex, but for entries once they are there. */
static struct {
  td_stream_entry **streams[TD_ACCELERATORS_MAX]; /* (owned) by device, then number */
  int n_streams[TD_ACCELERATORS_MAX], capacity[TD_ACCELERATORS_MAX];
  uint32_t n; /* of all devices */
  td_ordering host;
  uint32_t session, n_events; /* events of that recording */
} table;

static _Thread_local struct {
  int32_t stream[TD_ACCELERATORS_MAX];
  td_device device;
} current;

static td_stream_entry *
add_stream_locked(td_device device) {
  td_stream_entry ***streams = &table.streams[device];
  if (table.n_streams[device] == table.capacity[device]) {
    table.capacity[device] = TD_MAX(8, 2 * table.capacity[device]);
    *streams = td_realloc(*streams, (size_t)table.capacity[device], sizeof **streams);
  }
  td_stream_entry *entry = TD_NEW(td_stream_entry);
  entry->stream = (td_stream){device, table.n_streams[device]};
  entry->index = table.n++;
  entry->handle = td_device_backend(device)->stream_new(device);
  (*streams)[table.n_streams[device]++] = entry;
  return entry;
}

static td_stream_entry *
entry_locked(td_stream stream) {
  if (table.n_streams[stream.device] == 0) add_stream_locked(stream.device);
  return table.streams[stream.device][stream.number];
}

td_stream_entry *
td_stream_entry_of(td_stream stream) {
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = entry_locked(stream);
  pthread_mutex_unlock(&td_stream_mutex);
  return entry;
}

td_ordering *
td_stream_host_before_locked(void) {
  return &table.host;
}

uint64_t
td_stream_stamp_locked(void) {
  return td_recording() ? td_clock_ordered() : 0;
}

void
td_stream_announce_locked(td_stream_entry *entry) {
  uint32_t session = td_emit_session();
  if (!session || entry->announced == session) return;
  entry->announced = session;
  TD_EMIT_AT(td_clock_ordered(), stream_new, .device = entry->stream.device,
             .stream = entry->stream.number);
}

td_stream
td_stream_new(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  entry_locked((td_stream){device, 0});
  td_stream_entry *entry = add_stream_locked(device);
  td_stream_announce_locked(entry);
  pthread_mutex_unlock(&td_stream_mutex);
  return entry->stream;
}

int
td_stream_count(td_device device) {
  pthread_mutex_lock(&td_stream_mutex);
  int n = table.n_streams[device];
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

/* The host has seen all of that end. */
static void
host_saw(const td_ordering *before) {
  pthread_mutex_lock(&td_stream_mutex);
  td_ordering_join(&table.host, before);
  pthread_mutex_unlock(&td_stream_mutex);
}

/* What the stream was given up to now. */
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
  td_device_backend(stream.device)->stream_synchronize(stream.device, entry->handle);
  host_saw(&before);
  td_ordering_fini(&before);
}

void
td_device_synchronize(td_device device) {
  if (device < 0) return;
  pthread_mutex_lock(&td_stream_mutex);
  int n = table.n_streams[device];
  pthread_mutex_unlock(&td_stream_mutex);
  for (int32_t i = 0; i < n; i++)
    td_stream_synchronize((td_stream){device, i});
}

static void
number_event_locked(td_stream_event *event) {
  uint32_t session = td_emit_session();
  if (!session || event->session == session) return;
  if (table.session != session) table.n_events = 0;
  table.session = event->session = session;
  event->number = table.n_events++;
}

td_stream_event *
td_stream_event_record(td_stream stream, uint32_t node) {
  td_stream_event *event = TD_NEW(td_stream_event);
  td_refcount_init(&event->refs);
  event->stream = stream;
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = entry_locked(stream);
  event->handle = td_device_backend(stream.device)->event_new(stream.device, entry->handle);
  td_ordering_join(&event->before, &entry->before);
  number_event_locked(event);
  td_stream_announce_locked(entry);
  TD_EMIT_AT(td_stream_stamp_locked(), stream_record, .device = stream.device,
             .stream = stream.number, .stream_event = event->number, .node = node);
  pthread_mutex_unlock(&td_stream_mutex);
  return event;
}

td_stream_event *
td_stream_event_ref(td_stream_event *event) {
  if (event) td_refcount_inc(&event->refs);
  return event;
}

void
td_stream_event_unref(td_stream_event *event) {
  if (!event || !td_refcount_dec(&event->refs)) return;
  td_device_backend(event->stream.device)->event_free(event->handle);
  td_ordering_fini(&event->before);
  free(event);
}

td_stream
td_stream_event_stream(const td_stream_event *event) {
  return event->stream;
}

bool
td_stream_event_is_done(td_stream_event *event) {
  bool done = td_device_backend(event->stream.device)->event_is_done(event->handle);
  if (done) host_saw(&event->before);
  return done;
}

void
td_stream_event_synchronize(td_stream_event *event) {
  td_device_backend(event->stream.device)->event_synchronize(event->handle);
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
  td_stream_entry *entry = entry_locked(stream);
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

void
td_tensor_made_by(const td_tensor *tensor, uint32_t node) {
  if (tensor->storage->memory) td_memory_wrote(tensor->storage, node);
}

void
td_tensor_record_stream(const td_tensor *tensor, td_stream stream) {
  if (!tensor->storage->memory || tensor->device != stream.device) return;
  td_memory_record_stream(tensor->storage, stream);
}
