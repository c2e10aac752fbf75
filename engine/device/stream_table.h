/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams of the process and the order of their work. Private to engine/device. */
#pragma once

#include "engine/device/ordering.h"
#include "engine/device/stream.h"

#include <pthread.h>

typedef struct td_stream_entry {
  td_stream stream;
  uint32_t index;     /* among all streams of the process */
  void *handle;       /* the backend's */
  td_ordering before; /* (guarded by td_stream_mutex) what comes before its next kernel */
  uint32_t announced; /* (guarded by td_stream_mutex) recording that was told of it, or 0 */
} td_stream_entry;

/* Guards the order of streams and what is known of memory; a leaf: nothing is locked under it. */
extern pthread_mutex_t td_stream_mutex;

/* td_stream_entry_of returns the entry of a stream that there is. */
td_stream_entry *td_stream_entry_of(td_stream stream);

/* td_stream_announce_locked emits stream_new, once in a recording. */
void td_stream_announce_locked(td_stream_entry *entry);

/* td_stream_host_before_locked is the order of what host threads have seen end. */
td_ordering *td_stream_host_before_locked(void);

/* td_stream_stamp returns a time for an event about streams: the caller holds the mutex. */
uint64_t td_stream_stamp_locked(void);
