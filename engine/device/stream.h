/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: the queues of an accelerator. Kernels of one stream run in the order of their launch,
 * those of two streams in any order unless one waits for an event of the other. Each device has a
 * default stream, number 0, and as many others as are made; they live as long as the process. Each
 * host thread has a current stream on each device, at first the default one, and a current device,
 * at first 0. Any thread.
 *
 * A `node` is that for whose sake something is done, in events' numbers; TD_NONE: the program's own
 * doing. Nothing here does anything for devices that are no accelerators. */
#pragma once

#include "engine/base/status.h"
#include "engine/tensor/tensor.h"

typedef struct td_stream {
  td_device device;
  int32_t number;
} td_stream;

#define TD_NO_STREAM ((td_stream){TD_CPU, 0})

static inline bool
td_stream_is_some(td_stream stream) {
  return stream.device >= 0;
}

static inline bool
td_stream_equal(td_stream a, td_stream b) {
  return a.device == b.device && a.number == b.number;
}

td_stream td_stream_new(td_device device);
int td_stream_count(td_device device); /* with the default stream */
td_stream td_stream_default(td_device device);
td_stream td_stream_current(td_device device);
void td_stream_set_current(td_stream stream); /* of its device, for the calling thread */
td_device td_device_current(void);
void td_device_set_current(td_device device);

/* A guard makes a stream current, and its device, and puts back what was. For TD_NO_STREAM it does
 * nothing. On one thread's stack. */
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
td_stream_event *td_stream_event_ref(td_stream_event *event);
void td_stream_event_unref(td_stream_event *event); /* NULL is fine */
td_stream td_stream_event_stream(const td_stream_event *event);
bool td_stream_event_is_done(td_stream_event *event);
void td_stream_event_synchronize(td_stream_event *event);
double td_stream_event_elapsed_ms(td_stream_event *from, td_stream_event *to);

/* td_stream_wait makes what is launched on the stream from now on wait for the event.
 * td_stream_wait_stream for all that is on `other` by now: nothing where they are one. */
void td_stream_wait(td_stream stream, td_stream_event *event, uint32_t node);
void td_stream_wait_stream(td_stream stream, td_stream other, uint32_t node);

/* td_tensor_record_stream says that the stream uses the tensor's memory, so that it is not given
 * away before that work has ended. */
void td_tensor_record_stream(const td_tensor *tensor, td_stream stream);

/* td_tensor_made_by names the node of the kernel that wrote a tensor last: a forward operation's
 * node is made after its kernel has run. */
void td_tensor_made_by(const td_tensor *tensor, uint32_t node);

/* td_kernel_set_node says for which node's sake the calling thread launches kernels from now on,
 * and returns for which it did. */
uint32_t td_kernel_set_node(uint32_t node);
