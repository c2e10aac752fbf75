/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Launch: where kernels tell which tensors they touch. Kernels know nothing of devices;
 * engine/device, which lies above, hands its functions down when there are accelerators. On a
 * machine of the CPU alone a launch is one load and a predicted branch. Any thread. */
#pragma once

#include "engine/tensor/tensor.h"

/* A kernel about to run on these tensors (or NULLs), the first n_written of which it writes. Some
 * may be on the CPU. One that computes each element from those at its place says over which sizes;
 * the tensors broadcast to them. */
typedef struct td_kernel_call {
  const char
      *name; /* a literal; with ".out" behind it, it names one function of numbers everywhere */
  int n_written, n_tensors;
  const td_tensor *const *tensors;
  const int64_t *sizes; /* [n_dims], or NULL */
  int n_dims;
  double
      parameter; /* what "fill.out" fills with, what "add.out" multiplies its second summand by */
} td_kernel_call;

typedef struct td_accelerators {
  /* A storage of n_bytes on an accelerator; NULL without memory. storage_free gives it back. */
  td_storage *(*storage_new)(td_device device, size_t n_bytes);
  void (*storage_free)(td_storage *storage);
  /* True where the device has computed it, or will: the caller must not. */
  bool (*launch)(const td_kernel_call *call);
  /* The host is about to look at, or to write, elements on an accelerator: outside kernels. */
  void (*host_access)(const td_storage *storage);
} td_accelerators;

/* NULL until there are accelerators; set once, before a tensor is placed on one. */
extern const td_accelerators *td_accelerators_now;

/* td_launch tells whether there is anything left to compute: false where a device does it, and for
 * tensors of the meta device. A kernel that walks (walk.h) need not call it, td_walk_init does. */
static inline bool
td_launch(const td_kernel_call *call) {
  if (__builtin_expect(td_accelerators_now != NULL, 0) && td_accelerators_now->launch(call))
    return false;
  for (int i = 0; i < call->n_tensors; i++)
    if (call->tensors[i] && !td_tensor_has_data(call->tensors[i])) return false;
  return true;
}

/* TD_LAUNCH(name, n_written, tensors...) */
#define TD_LAUNCH(name_, n_written_, ...)                                                          \
  td_launch(&(td_kernel_call){                                                                     \
      .name = (name_),                                                                             \
      .n_written = (n_written_),                                                                   \
      .n_tensors = (int)(sizeof((const td_tensor *[]){__VA_ARGS__}) / sizeof(td_tensor *)),        \
      .tensors = (const td_tensor *[]){__VA_ARGS__}})

/* td_storage_new_host makes a storage in host memory, for the CPU and for whoever simulates. */
td_storage *td_storage_new_host(size_t n_bytes);
