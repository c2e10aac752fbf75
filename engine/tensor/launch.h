/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Launch: where kernels tell which tensors they touch. Kernels know nothing of devices;
 * engine/device, which lies above, hands its functions down when there are accelerators. On a
 * machine of the CPU alone a launch is one load and a predicted branch. Any thread. */
#pragma once

#include "engine/tensor/tensor.h"

typedef struct td_accelerators {
  /* A storage of n_bytes on an accelerator; NULL without memory. storage_free gives it back. */
  td_storage *(*storage_new)(td_device device, size_t n_bytes);
  void (*storage_free)(td_storage *storage);
  /* The calling thread is about to run a kernel on these tensors (or NULLs), the first n_written of
   * which it writes. Some may be on the CPU. */
  void (*launch)(const char *kernel, int n_written, int n_tensors, const td_tensor *const *tensors);
} td_accelerators;

/* NULL until there are accelerators; set once, before a tensor is placed on one. */
extern const td_accelerators *td_accelerators_now;

/* td_launch tells whether there is anything to compute: false for tensors of the meta device. A
 * kernel that walks (walk.h) need not call it, td_walk_init does. `kernel` is a literal; NULL
 * tensors are passed over. */
static inline bool
td_launch(const char *kernel, int n_written, int n_tensors, const td_tensor *const *tensors) {
  if (__builtin_expect(td_accelerators_now != NULL, 0))
    td_accelerators_now->launch(kernel, n_written, n_tensors, tensors);
  for (int i = 0; i < n_tensors; i++)
    if (tensors[i] && !td_tensor_has_data(tensors[i])) return false;
  return true;
}
#define TD_LAUNCH(kernel, n_written, ...)                                                          \
  td_launch((kernel), (n_written),                                                                 \
            (int)(sizeof((const td_tensor *[]){__VA_ARGS__}) / sizeof(td_tensor *)),               \
            (const td_tensor *[]){__VA_ARGS__})

/* td_storage_new_host makes a storage in host memory, for the CPU and for whoever simulates. */
td_storage *td_storage_new_host(size_t n_bytes);
