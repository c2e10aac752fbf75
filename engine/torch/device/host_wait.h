/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits of host threads for a device, on the tape. A thread that finds the work done says nothing.
 * With virtual time nobody waits. Private to engine/torch/device. Any thread. */
#pragma once

#include "engine/torch/device/stream_handle.h"

#include <stdint.h>

typedef struct td_host_wait {
  td_stream stream;
  uint64_t begin;
  uint32_t session; /* in which it began, or 0: nobody records it */
} td_host_wait;

/* td_host_wait_is_recorded tells whether somebody wants to know of waits. */
bool td_host_wait_is_recorded(void);

/* td_host_wait_begin says that the calling thread has to wait for the stream, or for one of the
 * stream's events: its number, or TD_NONE. Call it only if td_host_wait_is_recorded.
 * td_host_wait_begin_all_locked is for all streams of a device, and looks whether there is work
 * left. The caller has td_stream_mutex. */
td_host_wait td_host_wait_begin(td_stream stream, uint32_t stream_event);
td_host_wait td_host_wait_begin_all_locked(td_device device);

/* td_host_wait_end says that the thread has waited, if the tape has the begin. */
void td_host_wait_end(const td_host_wait *wait);
