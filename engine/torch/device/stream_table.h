/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams of the process and the order of their work. Private to engine/torch/device. */
#pragma once

#include "engine/torch/device/ordering.h"
#include "engine/torch/device/stream_handle.h"

#include <pthread.h>

#define TD_STREAM_POOL 32

typedef struct td_stream_entry {
  td_stream stream;
  uint32_t index;     /* among all streams of the process */
  void *handle;       /* the backend's */
  td_ordering before; /* (guarded by td_stream_mutex) what comes before its next kernel */
  uint32_t announced; /* (guarded by td_stream_mutex) recording that has its stream_new, or 0 */
} td_stream_entry;

/* Guards the order of streams, and memory.h. Nobody takes another lock while holding it. */
extern pthread_mutex_t td_stream_mutex;

/* td_stream_take_locked takes the next stream of a device's pool. */
td_stream_entry *td_stream_take_locked(td_device device);

/* td_stream_count_locked returns how many streams a device has so far. 0 if nobody has used its
 * default stream. */
int td_stream_count_locked(td_device device);

/* td_stream_entry_of returns the entry of an existing stream. An entry lives as long as the
 * process.
 */
td_stream_entry *td_stream_entry_of(td_stream stream);
td_stream_entry *td_stream_entry_locked(td_stream stream);

/* td_stream_announce_locked emits stream_new, once per recording. */
void td_stream_announce_locked(td_stream_entry *entry);

/* td_streams_are_done_locked tells whether a device has no work left. */
bool td_streams_are_done_locked(td_device device);

/* td_stream_host_before_locked returns the ordering of what host threads have seen end. */
td_ordering *td_stream_host_before_locked(void);

/* td_stream_stamp_locked returns a time for an event about streams. */
uint64_t td_stream_stamp_locked(void);
