/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA module: a shared object of its own, compiled by nvcc, which engine/device/cuda.c loads
 * when a program asks for CUDA devices. So the program needs no CUDA to start, and this header,
 * which is C and C++, is all that both sides know of each other. Any thread; devices count from 0
 * as CUDA's do. Functions that return a text return NULL when they went well, else what went wrong,
 * which stays valid. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TD_CUDA_MODULE_VERSION 1 /* both sides must agree */
#define TD_CUDA_MODULE_SYMBOL "td_cuda_module_get"
#define TD_CUDA_MAX_DIMS 8
#define TD_CUDA_MAX_OPERANDS 4

/* The dtypes that kernels know; the numbers are those of td_dtype. */
typedef enum td_cuda_dtype {
  TD_CUDA_FLOAT32,
  TD_CUDA_FLOAT64,
  TD_CUDA_INT64,
  TD_CUDA_BOOL,
  TD_CUDA_INT32,
  TD_CUDA_N_DTYPES
} td_cuda_dtype;

/* A tensor as a kernel sees it: strides in elements, those of dimensions that repeat are 0. Where
 * data is NULL it is one number for all. */
typedef struct td_cuda_operand {
  void *data;
  double number;
  int32_t dtype;
  int64_t strides[TD_CUDA_MAX_DIMS];
} td_cuda_operand;

/* One kernel over `sizes`: operand 0 is written. */
typedef struct td_cuda_launch {
  int32_t kernel; /* a number that `find` returned */
  int32_t n_dims, n_operands;
  int64_t sizes[TD_CUDA_MAX_DIMS];
  double parameter; /* of fill its value, of add what the second summand is multiplied by */
  td_cuda_operand operands[TD_CUDA_MAX_OPERANDS];
} td_cuda_launch;

/* c [n, m] = a [n, k] b [k, m], n_batches times; steps in elements. float32 and float64. */
typedef struct td_cuda_product {
  int32_t dtype;
  int64_t n_batches, n, k, m;
  struct {
    void *data;
    int64_t batch, row, column;
  } a, b, c;
} td_cuda_product;

typedef struct td_cuda_module {
  int version;

  /* The number of usable devices: those whose memory the host may use too while kernels run. */
  const char *(*open)(int *n_devices);
  const char *(*device_name)(int device);

  void *(*allocate)(int device, size_t n_bytes); /* managed; NULL without memory */
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

  /* find returns a kernel's number by its name, "add" or "exp"; -1: there is none. launch returns
   * 0 where it has no kernel for these dtypes, 1 where it was put on the stream. */
  int (*find)(const char *name);
  int (*launch)(int device, void *stream, const td_cuda_launch *launch, const char **error);
  int (*multiply)(int device, void *stream, const td_cuda_product *product, const char **error);
} td_cuda_module;

const td_cuda_module *td_cuda_module_get(void);

#ifdef __cplusplus
}
#endif
