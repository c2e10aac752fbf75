/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Backend: what a kind of accelerator must be able to do. engine/device keeps the streams, their
 * order and the tape; a backend has the memory and the time. Its functions may be called by any
 * thread; those with a `stream` for one stream by one thread at a time. Private to engine/device.
 */
#pragma once

#include "engine/device/stream.h"
#include "engine/tensor/launch.h"

/* A kernel as it is launched, and what the backend has to say to that. */
typedef struct td_kernel {
  const td_kernel_call *call;
  td_stream stream;
  uint32_t node, name; /* of the kernel's event */
  size_t n_bytes;      /* read and written */
  bool is_computed;    /* out: the device does it; false: the host may, and must */
  bool is_told;        /* out: its event is emitted when it has run, by the backend; not now */
  uint64_t queued; /* out: it begins so many nanoseconds of the device's time after its launch */
  uint64_t took;   /* out: and takes so many */
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

  /* Before the host looks at memory of the device; may be NULL, as the next. */
  void (*host_access)(td_device device);
  /* Emits what is still to be told of kernels, waiting for them. */
  void (*flush)(td_device device);
} td_backend;

extern const td_backend td_backend_sim;
extern const td_backend td_backend_cuda;
