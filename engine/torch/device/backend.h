/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Backend: what a kind of accelerator must be able to do. engine/torch/device keeps the streams,
 * their order and the tape; a backend has the memory and the time. Any thread may call its
 * functions. For one `stream`, one thread calls at a time. Private to engine/torch/device. */
#pragma once

#include "engine/torch/device/stream_handle.h"
#include "engine/torch/tensor/accelerators.h"

/* A kernel as it is launched, and the backend's answer (out). */
typedef struct td_kernel {
  const td_kernel_call *call;
  td_stream stream;
  uint32_t node, name; /* of the kernel's event */
  size_t n_bytes;      /* read and written */
  bool is_computed;    /* out: the device computes; false: the host may, and must */
  bool is_told;        /* out: the backend emits the event itself, after the kernel has run */
  uint64_t queued;     /* out: from launch to begin, in nanoseconds of the device's time */
  uint64_t took;       /* out: from begin to end, likewise */
} td_kernel;

typedef struct td_backend {
  const char *kind; /* "sim": devices are called sim:0 and so on */

  /* Storage; NULL without memory. The backend fills in all but `memory`. */
  td_storage *(*storage_new)(td_device device, size_t n_bytes);
  void (*storage_free)(td_device device, td_storage *storage);

  void *(*stream_new)(td_device device); /* streams live as long as the process */
  bool (*stream_is_done)(td_device device, void *stream);
  void (*stream_synchronize)(td_device device, void *stream);

  void *(*event_new)(td_device device, void *stream); /* recorded */
  void (*event_free)(void *event);
  bool (*event_is_done)(void *event);
  void (*event_synchronize)(void *event);
  double (*event_elapsed_ms)(void *from, void *to);
  void (*stream_wait)(td_device device, void *stream, void *event);

  void (*launch)(td_device device, void *stream, td_kernel *kernel);

  /* Called before the host looks at memory of the device. May be NULL, as the next. */
  void (*host_access)(td_device device);
  /* Waits for kernels and emits the rest of their events. */
  void (*flush)(td_device device);
} td_backend;
