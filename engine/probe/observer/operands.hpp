/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations of the forward pass, as PyTorch tells its profiler of them: names and operands. */
#pragma once

#include "engine/probe/observer/torch.hpp"

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

inline const Node *
grad_fn_of(at::TensorImpl *impl) {
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta());
  return meta ? meta->grad_fn_.get() : nullptr;
}

} // namespace tapedeck
