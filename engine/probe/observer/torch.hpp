/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PyTorch as the observer sees it, with what differs between its versions. The observer is compiled
 * with -fno-access-control: it reads what the engine keeps private, and changes nothing. */
#pragma once

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/version.h>

#include "engine/base/relocations.h"
#include "engine/probe/ids.h"
#include "engine/probe/observer/emit.hpp"

#include <dlfcn.h>
#include <string.h>

namespace tapedeck {

using namespace torch::autograd;
using at::Tensor;

#define TORCH_AT_LEAST(major, minor)                                                               \
  (TORCH_VERSION_MAJOR > (major) ||                                                                \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

/* Where PyTorch sums gradients in an input buffer. */
#define ADD_IS_EXPORTED TORCH_AT_LEAST(2, 1)

/* shared_ptr, and intrusive_ptr since 2.13. */
using NodePtr = decltype(NodeTask::fn_);

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

inline uint32_t
clamp(uint64_t value) {
  return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
}

/* TD_DEVICE_CPU, or the accelerator's index. */
inline int32_t
device_number(at::Device device) {
  if (device.type() == at::kCPU) return TD_DEVICE_CPU;
  return device.index() < 0 ? 0 : device.index();
}

inline bool
is_sparse(const Tensor &tensor) {
  return tensor.defined() && tensor.layout() != at::kStrided;
}

/* Of the elements, without the tensor's strides; 0 where that is not known without asking. */
inline uint32_t
bytes_of(const Tensor &tensor) {
  if (!tensor.defined() || is_sparse(tensor)) return 0;
  const at::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  return clamp(static_cast<uint64_t>(impl->numel_) * impl->data_type_.itemsize());
}

/* The slot of a virtual function in the vtable, from a pointer to member (Itanium C++ ABI, 2.3). */
template <class Member>
size_t
vtable_slot(Member member) {
  uintptr_t offset;
  memcpy(&offset, &member, sizeof offset);
#if defined(__aarch64__)
  return offset / sizeof(void *);
#else
  return (offset - 1) / sizeof(void *);
#endif
}

inline void **
vtable_of(const void *object) {
  return *static_cast<void **const *>(object);
}

} // namespace tapedeck
