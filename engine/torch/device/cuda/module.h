/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA module: a shared object of its own, compiled by nvcc. engine/torch/device/cuda.c loads
 * it when a program asks for CUDA devices, so the program needs no CUDA to start. The two sides
 * know of each other only this header, which is C and C++. Any thread. Devices count from 0, as
 * CUDA's do. A function that returns a text returns NULL on success, else what went wrong. The text
 * stays valid.
 */
#pragma once

#include "engine/torch/device/cuda/launch.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TD_CUDA_MODULE_VERSION 1 /* both sides must agree */
#define TD_CUDA_MODULE_SYMBOL "td_cuda_module_get"

typedef struct td_cuda_module {
  int version;

  /* Counts the devices; an error if one of them cannot reach the host's memory. */
  const char *(*open)(int *n_devices);
  const char *(*device_name)(int device);

  void *(*allocate)(int device, size_t n_bytes); /* page-locked, on the host; or NULL */
  void (*release)(int device, void *data);       /* waits for kernels */

  const char *(*stream_new)(int device, void **stream);
  int (*stream_is_done)(int device, void *stream);
  const char *(*stream_synchronize)(int device, void *stream);
  const char *(*synchronize)(int device);

  const char *(*event_new)(int device, void *stream, void **event); /* recorded, with its time */
  void (*event_free)(int device, void *event);
  int (*event_is_done)(void *event);
  const char *(*event_synchronize)(void *event);
  double (*event_elapsed_ms)(void *from, void *to); /* both done */
  const char *(*stream_wait)(int device, void *stream, void *event);

  /* find returns the number of a kernel from its name, "add" or "exp"; -1 if there is none. launch
   * and multiply return 1 if they put a kernel on the stream, 0 if there is none for these dtypes.
   */
  int (*find)(const char *name);
  int (*launch)(int device, void *stream, const td_cuda_launch *launch, const char **error);
  int (*multiply)(int device, void *stream, const td_cuda_product *product, const char **error);
} td_cuda_module;

const td_cuda_module *td_cuda_module_get(void);

#ifdef __cplusplus
}
#endif
