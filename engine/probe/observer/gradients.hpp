/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What engine/probe/numerics.h hears about PyTorch's gradients. Their memory is read as it lies
 * there: no operation is called, no reference taken, nothing thrown. Any thread that holds them. */
#pragma once

#include "engine/probe/leaf_look.h"
#include "engine/probe/numerics.h"
#include "engine/probe/observer/outputs.hpp"
#include "engine/probe/operations.h"

#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/SmallVector.h>

namespace tapedeck {

inline bool
numerics_wanted() {
  return UNLIKELY(td_numerics_anomalies || td_numerics_statistics);
}

inline td_number_type
number_type(caffe2::TypeMeta type) {
  if (!type.isScalarType()) return TD_N_NUMBER_TYPES;
  switch (c10::typeMetaToScalarType(type)) {
  case at::kHalf:
    return TD_NUMBER_FLOAT16;
  case at::kBFloat16:
    return TD_NUMBER_BFLOAT16;
  case at::kFloat:
    return TD_NUMBER_FLOAT32;
  case at::kDouble:
    return TD_NUMBER_FLOAT64;
  case at::kComplexHalf:
    return TD_NUMBER_COMPLEX32;
  case at::kComplexFloat:
    return TD_NUMBER_COMPLEX64;
  case at::kComplexDouble:
    return TD_NUMBER_COMPLEX128;
  case at::kBool:
    return TD_NUMBER_BOOL;
  case at::kByte:
    return TD_NUMBER_UINT8;
  case at::kChar:
    return TD_NUMBER_INT8;
  case at::kShort:
    return TD_NUMBER_INT16;
  case at::kInt:
    return TD_NUMBER_INT32;
  case at::kLong:
    return TD_NUMBER_INT64;
  default:
    return TD_N_NUMBER_TYPES;
  }
}

/* The dispatch keys of a tensor whose elements are the numbers in its memory. */
inline bool
has_ordinary_keys(const at::TensorImpl *impl) {
  using c10::DispatchKey;
  static const c10::DispatchKeySet ordinary =
      c10::DispatchKeySet({DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU,
                           DispatchKey::ADInplaceOrView, DispatchKey::Conjugate});
  return ordinary.has_all(impl->key_set());
}

/* Why a tensor's memory cannot be read as it lies there; NULL: it can. Only what is known to be
 * ordinary is read: a plain TensorImpl, dense and on the CPU, with sizes and a storage of its own.
 */
inline const char *
why_unread(at::TensorImpl *impl) {
  if (impl->is_python_dispatch()) return TD_UNREAD_SUBCLASS;
  if (impl->device_type() != c10::DeviceType::CPU) return TD_UNREAD_DEVICE;
  if (impl->layout() != c10::kStrided || typeid(*impl) != typeid(at::TensorImpl) ||
      !impl->matches_policy(at::TensorImpl::SizesStridesPolicy::Default))
    return TD_UNREAD_LAYOUT;
  if (!has_ordinary_keys(impl) || !impl->has_storage() || !impl->storage_initialized())
    return TD_UNREAD_NO_MEMORY;
  if (number_type(impl->dtype()) == TD_N_NUMBER_TYPES) return TD_UNREAD_TYPE;
  return nullptr;
}

/* The bytes of the storage from the tensor's first element on. */
inline uint64_t
bytes_behind(const at::TensorImpl *impl) {
  uint64_t n = impl->storage().nbytes(), itemsize = impl->dtype().itemsize(), begin;
  bool is_within =
      impl->storage_offset() >= 0 &&
      !__builtin_mul_overflow(static_cast<uint64_t>(impl->storage_offset()), itemsize, &begin) &&
      begin <= n;
  return is_within ? n - begin : 0;
}

inline void
describe_memory(at::TensorImpl *impl, td_gradient *out) {
  td_numbers numbers = {};
  numbers.n_dims = static_cast<int>(impl->dim());
  numbers.sizes = impl->sizes().data();
  numbers.strides = impl->strides().data();
  numbers.data = impl->numel() ? impl->data() : nullptr;
  numbers.type = number_type(impl->dtype());
  uint64_t n_bytes = bytes_behind(impl);
  out->numbers = numbers;
  td_numerics_check(out, n_bytes);
}

inline void
describe(at::TensorImpl *impl, td_gradient *out) noexcept {
  *out = td_gradient{};
  out->numbers.type = TD_N_NUMBER_TYPES;
  if (impl == c10::UndefinedTensorImpl::singleton()) return;
  out->identity = impl;
  try {
    out->version = impl->is_inference() ? 0 : impl->version_counter().current_version();
    out->unread = why_unread(impl);
    if (!out->unread) describe_memory(impl, out);
  } catch (...) {
    out->unread = TD_UNREAD_REFUSES;
  }
}

/* What stands for a leaf. */
inline uint64_t
leaf_number(const at::TensorImpl *impl) {
  return reinterpret_cast<uintptr_t>(impl);
}

using Gradients = c10::SmallVector<td_gradient, 8>;

inline Gradients
describe_all(const variable_list &tensors) {
  Gradients all(tensors.size());
  for (size_t i = 0; i < tensors.size(); i++)
    describe(tensors[i].unsafeGetTensorImpl(), &all[i]);
  return all;
}

/* The evaluation of a node, from what came to its inputs until it is over: on the stack. */
class NumericsEvaluation {
public:
  NumericsEvaluation(uint32_t graph_task, uint32_t node, bool is_root, const variable_list &inputs)
      : is_on(numerics_wanted()) {
    if (!is_on) return;
    Timed timed(TD_recorder_work_numbers);
    Gradients all = describe_all(inputs);
    td_numerics_enter(&frame, graph_task, node, is_root, clamp(all.size()), all.data());
  }
  ~NumericsEvaluation() {
    if (is_on) td_numerics_leave(&frame);
  }
  NumericsEvaluation(const NumericsEvaluation &) = delete;
  NumericsEvaluation &operator=(const NumericsEvaluation &) = delete;

private:
  bool is_on;
  td_numerics_frame frame;
};

/* What .grad of a leaf holds; under the lock that its AccumulateGrad writes it under. */
inline void
describe_stored(AccumulateGrad *leaf, td_gradient *out) {
  std::lock_guard<std::mutex> lock(leaf->mutex_);
  describe(leaf->variable.unsafeGetTensorImpl()->grad().unsafeGetTensorImpl(), out);
}

/* Under the same lock, so that no other AccumulateGrad of the leaf writes what is read. */
inline void
look_at_leaf(uint32_t graph_task, uint32_t node, AccumulateGrad *leaf, const Tensor &gradient) {
  Timed timed(TD_recorder_work_numbers);
  td_gradient now, held;
  describe(gradient.unsafeGetTensorImpl(), &now);
  std::lock_guard<std::mutex> lock(leaf->mutex_);
  describe(leaf->variable.unsafeGetTensorImpl()->grad().unsafeGetTensorImpl(), &held);
  td_leaf_look(graph_task, node, &now, &held);
}

/* Where an output goes, and what the engine makes of it on the way. */
inline td_gradient_edge
edge_to(const Edge &edge, uint32_t id) {
  td_gradient_edge to = {id, edge.input_nr, TD_N_NUMBER_TYPES, 0};
  if (edge.input_nr >= edge.function->num_inputs()) return to;
  const InputMetadata &metadata = edge.function->input_metadata_[edge.input_nr];
  if (!n_elements_of(metadata, &to.n)) return to;
  to.type = number_type(dtype_of_gradient(metadata, caffe2::TypeMeta(), 0));
  return to;
}

/* Where the outputs of a node go; `id_of` gives the id of a node. */
template <class IdOf>
c10::SmallVector<td_gradient_edge, 8>
edges_of(const Node *node, size_t n_outputs, IdOf id_of) {
  c10::SmallVector<td_gradient_edge, 8> edges(n_outputs,
                                              td_gradient_edge{TD_NONE, 0, TD_N_NUMBER_TYPES, 0});
  for (size_t i = 0; i < n_outputs && i < node->num_outputs(); i++) {
    const Edge &edge = node->next_edge(i);
    if (edge.is_valid()) edges[i] = edge_to(edge, id_of(edge.function.get()));
  }
  return edges;
}

/* Around the apply of a node. */
class NumericsApply {
public:
  NumericsApply(Node *node, bool is_leaf, const variable_list &inputs)
      : node(node), leaf(is_leaf ? static_cast<AccumulateGrad *>(node) : nullptr),
        is_on(numerics_wanted() && td_numerics_is_evaluating()) {
    if (!is_on) return;
    Timed timed(TD_recorder_work_numbers);
    Gradients all = describe_all(inputs);
    td_numerics_apply_begin(leaf != nullptr, clamp(all.size()), all.data());
    if (leaf) tell_stored(td_numerics_store_begin);
    uint32_t id = leaf ? td_numerics_node_with_found() : TD_NONE;
    if (id != TD_NONE) td_operations_stored(leaf_number(leaf->variable.unsafeGetTensorImpl()), id);
  }

  /* Returns true if the node's function made a value that is not finite. */
  template <class IdOf> bool end(const variable_list &outputs, bool is_graph_root, IdOf id_of) {
    if (!is_on) return false;
    Timed timed(TD_recorder_work_numbers);
    if (leaf) tell_stored(td_numerics_store_end);
    Gradients all = describe_all(outputs);
    auto edges = edges_of(node, all.size(), id_of);
    return td_numerics_apply_end(is_graph_root, !node->post_hooks_.empty(), clamp(all.size()),
                                 all.data(), edges.data());
  }

private:
  void tell_stored(void (*tell)(const td_gradient *)) {
    td_gradient stored;
    describe_stored(leaf, &stored);
    tell(&stored);
  }

  Node *node;
  AccumulateGrad *leaf;
  bool is_on;
};

/* A hook has returned: what it made of the inputs, or of the outputs, of the node it is on. */
inline void
numerics_hook_end(bool is_post, uint32_t name, const variable_list &gradients) {
  if (!numerics_wanted() || !td_numerics_is_evaluating()) return;
  Timed timed(TD_recorder_work_numbers);
  Gradients all = describe_all(gradients);
  td_numerics_hook_end(is_post, name, clamp(all.size()), all.data());
}

} // namespace tapedeck
