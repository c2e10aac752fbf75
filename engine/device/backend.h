/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Backend: what a kind of accelerator must be able to do. engine/device keeps the streams, their
 * order and the tape; a backend has the memory and the time. Its functions may be called by any
 * thread; those with a `stream` for one stream by one thread at a time. Private to engine/device.
 */
#pragma once

#include "engine/tensor/tensor.h"

/* A kernel as it is launched. */
typedef struct td_kernel {
  const char *name;
  size_t n_bytes; /* read and written */
} td_kernel;

/* When it runs: `begin` is `queued` after its launch; both in nanoseconds of the device's time. */
typedef struct td_kernel_times {
  uint64_t queued, took;
} td_kernel_times;

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

  td_kernel_times (*launch)(td_device device, void *stream, const td_kernel *kernel);
} td_backend;

extern const td_backend td_backend_sim;
