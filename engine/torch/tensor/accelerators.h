/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Accelerators, as tensors and kernels see them: a table of functions. Tensors know nothing of
 * devices; engine/torch/device, which lies above, hands this table down if there are accelerators.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TD_CPU, TD_META, or the index of an accelerator (engine/torch/device/device.h). DEVICE fields of
 * events have the same numbers; there, -2 is no device at all. */
typedef int32_t td_device;
#define TD_CPU ((td_device)-1)
#define TD_META ((td_device)-3) /* its tensors have sizes and no elements */

typedef struct td_tensor td_tensor;
typedef struct td_storage td_storage;

/* A kernel that is about to run on these tensors, some of which may be on the CPU, or NULL. It
 * writes the first n_written. `sizes` is NULL unless the kernel computes each element from the
 * elements at the same place. Then the tensors broadcast to `sizes`. */
typedef struct td_kernel_call {
  /* A literal. A name that ends in ".out" names one function of numbers everywhere. */
  const char *name;
  int n_written, n_tensors;
  const td_tensor *const *tensors;
  const int64_t *sizes; /* [n_dims], or NULL */
  int n_dims;
  double parameter; /* the value of "fill.out", the factor of the second summand of "add.out" */
} td_kernel_call;

typedef struct td_accelerators {
  /* A storage of n_bytes on an accelerator; NULL without memory. storage_free gives it back. */
  td_storage *(*storage_new)(td_device device, size_t n_bytes);
  void (*storage_free)(td_storage *storage);
  /* True if the device has run the kernel, or will: then the caller must not compute. */
  bool (*launch)(const td_kernel_call *call);
  /* The host is about to read or write elements on an accelerator, outside a kernel. */
  void (*host_access)(const td_storage *storage);
} td_accelerators;

/* NULL without accelerators. Set once, before a tensor is placed on an accelerator. */
extern const td_accelerators *td_accelerators_now;
