/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/stream_table.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/device/backend.h"
#include "engine/torch/device/device_table.h"
#include "engine/torch/device/specification.h"

pthread_mutex_t td_stream_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by td_stream_mutex, but for entries once they are there. */
static struct {
  td_stream_entry *streams[TD_ACCELERATORS_MAX][1 + TD_STREAM_POOL]; /* (owned) */
  int n_streams[TD_ACCELERATORS_MAX];
  uint32_t n_taken[TD_ACCELERATORS_MAX]; /* from the pool */
  uint32_t n;                            /* of all devices */
  td_ordering host;
} table;

static td_stream_entry *
add_locked(td_device device) {
  td_stream_entry *entry = TD_NEW(td_stream_entry);
  entry->stream = (td_stream){device, table.n_streams[device]};
  entry->index = table.n++;
  entry->handle = td_device_backend(device)->stream_new(device);
  table.streams[device][table.n_streams[device]++] = entry;
  return entry;
}

td_stream_entry *
td_stream_entry_locked(td_stream stream) {
  if (table.n_streams[stream.device] == 0) add_locked(stream.device);
  return table.streams[stream.device][stream.number];
}

td_stream_entry *
td_stream_take_locked(td_device device) {
  td_stream_entry_locked((td_stream){device, 0});
  int number = 1 + (int)(table.n_taken[device]++ % TD_STREAM_POOL);
  return number < table.n_streams[device] ? table.streams[device][number] : add_locked(device);
}

td_stream_entry *
td_stream_entry_of(td_stream stream) {
  pthread_mutex_lock(&td_stream_mutex);
  td_stream_entry *entry = td_stream_entry_locked(stream);
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

int
td_stream_count_locked(td_device device) {
  return table.n_streams[device];
}

bool
td_streams_are_done_locked(td_device device) {
  bool done = true;
  for (int i = 0; i < table.n_streams[device] && done; i++)
    done = td_device_backend(device)->stream_is_done(device, table.streams[device][i]->handle);
  return done;
}
