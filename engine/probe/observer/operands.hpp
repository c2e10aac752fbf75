/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations of the forward pass, as PyTorch tells its profiler of them: names and operands. */
#pragma once

#include "engine/probe/observer/gradients.hpp"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/variable.h>

namespace tapedeck {

template <class Visit>
void
each_tensor(const c10::IValue &value, Visit visit) {
  if (value.isTensor()) {
    visit(value.unsafeToTensorImpl());
  } else if (value.isTensorList()) {
    const auto list = value.toTensorList();
    for (size_t i = 0; i < list.size(); i++)
      visit(static_cast<const Tensor &>(list.get(i)).unsafeGetTensorImpl());
  }
}

/* "aten::add_" overwrites its first operand; "aten::__iadd__" too. */
inline bool
is_in_place(const char *name) {
  size_t length = strlen(name);
  return length > 2 && name[length - 1] == '_' && (name[length - 2] != '_' || strstr(name, "__i"));
}

/* An operation that writes at some indices of its first operand: what it writes there is in the
 * others. */
inline bool
writes_at_indices(const char *name) {
  static const char *const names[] = {"index_copy_",      "index_fill_",  "index_put_",
                                      "_index_put_impl_", "index_add_",   "index_reduce_",
                                      "scatter_",         "scatter_add_", "scatter_reduce_",
                                      "masked_scatter_",  "put_"};
  const char *colon = strrchr(name, ':'), *bare = colon ? colon + 1 : name;
  for (const char *each : names)
    if (strcmp(bare, each) == 0) return true;
  return false;
}

inline const Node *
grad_fn_of(at::TensorImpl *impl) {
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta());
  return meta ? meta->grad_fn_.get() : nullptr;
}

inline bool
is_wanting_leaf(const at::TensorImpl *impl) {
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta_.get());
  return meta && meta->requires_grad_ && !meta->grad_fn_;
}

} // namespace tapedeck
