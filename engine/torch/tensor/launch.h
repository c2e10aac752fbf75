/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Launch: how a kernel tells which tensors it touches. Without accelerators a launch costs one load
 * and a predicted branch. Any thread. */
#pragma once

#include "engine/torch/tensor/accelerators.h"
#include "engine/torch/tensor/tensor.h"

/* td_launch announces a kernel and returns whether the caller must compute. False if a device runs
 * the kernel, or if a tensor is on the meta device. td_walk_init (walk.h) calls td_launch itself.
 */
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
