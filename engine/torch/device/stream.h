/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: the queues of an accelerator. Kernels of one stream run in the order of their launch.
 * Kernels of two streams run in any order, unless one stream waits for an event of the other. Each
 * device has a default stream, number 0, and a pool of 32 others. As in PyTorch,
 * td_stream_new takes them in turns, so the one after the last is the first again. Streams live as
 * long as the process. Each host thread has a current stream on each device, at first the default
 * one. It has a current device, at first 0. Any thread.
 *
 * A `node` is the node that causes the work, by its number in events. TD_NONE: the program itself.
 * For devices that are no accelerators the functions do nothing. */
#pragma once

#include "engine/torch/device/stream_handle.h"

td_stream td_stream_new(td_device device);
int td_stream_count(td_device device); /* with the default stream */
td_stream td_stream_default(td_device device);
td_stream td_stream_current(td_device device);
void td_stream_set_current(td_stream stream); /* on its device, for the calling thread */
td_device td_device_current(void);
void td_device_set_current(td_device device);

/* A guard makes a stream and its device current, and puts back the earlier ones at its end. For
 * TD_NO_STREAM it does nothing. A guard belongs to one thread. */
typedef struct td_stream_guard {
  td_stream earlier;
  td_device device;
} td_stream_guard;

td_stream_guard td_stream_guard_begin(td_stream stream);
void td_stream_guard_end(const td_stream_guard *guard);

bool td_stream_is_done(td_stream stream);
void td_stream_synchronize(td_stream stream);
void td_device_synchronize(td_device device); /* all its streams */

/* An event marks a place in a stream's work. Reference-counted, constant once it is recorded. */
typedef struct td_stream_event td_stream_event;

td_stream_event *td_stream_event_record(td_stream stream, uint32_t node);
void td_stream_event_unref(td_stream_event *event); /* NULL is fine */
bool td_stream_event_is_done(td_stream_event *event);
void td_stream_event_synchronize(td_stream_event *event);
double td_stream_event_elapsed_ms(td_stream_event *from, td_stream_event *to);

/* td_stream_wait makes later kernels of the stream wait for the event. td_stream_wait_stream makes
 * them wait for all kernels that are on `other` by now; it does nothing if both are one stream. */
void td_stream_wait(td_stream stream, td_stream_event *event, uint32_t node);
void td_stream_wait_stream(td_stream stream, td_stream other, uint32_t node);
