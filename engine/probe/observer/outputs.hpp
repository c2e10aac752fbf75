/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node hands on, noted while the engine lends it. A node's own apply returns gradients that
 * the engine then makes fit: it sums them to the shape of the next node's input and casts them to
 * its dtype. What a post hook returns is handed on as it is. */
#pragma once

#include "engine/probe/observer/thread.hpp"

#include <variant>

namespace tapedeck {

using std::get_if; /* or c10's: some versions have a variant of their own */

/* How many elements a gradient for this input has, once it fits; false if that is not known. */
inline bool
n_elements_of(const InputMetadata &metadata, uint64_t *n) {
  const auto *sizes = get_if<SymIntSmallVec>(&metadata.shape_);
  if (!metadata.options_.has_dtype() || !sizes) return false;
  *n = 1;
  for (const c10::SymInt &size : *sizes)
    *n *= size.is_symbolic() ? 0 : static_cast<uint64_t>(size.as_int_unchecked());
  return true;
}

/* The dtype that a gradient for this input gets. Later versions keep it apart from the input's own,
 * and then it may be any. */
template <class Metadata>
auto
dtype_of_gradient(const Metadata &metadata, caffe2::TypeMeta own, int)
    -> decltype(metadata.grad_dtype_, caffe2::TypeMeta()) {
  return metadata.grad_dtype_ ? c10::scalarTypeToTypeMeta(*metadata.grad_dtype_) : own;
}

template <class Metadata>
caffe2::TypeMeta
dtype_of_gradient(const Metadata &metadata, caffe2::TypeMeta, long) {
  return metadata.dtype();
}

inline uint32_t
bytes_when_fit(const Tensor &gradient, const Edge &edge) {
  const Node *next = edge.function.get();
  uint64_t n;
  if (!next || edge.input_nr >= next->num_inputs()) return bytes_of(gradient);
  const InputMetadata &metadata = next->input_metadata_[edge.input_nr];
  if (!n_elements_of(metadata, &n)) return bytes_of(gradient);
  caffe2::TypeMeta own = gradient.unsafeGetTensorImpl()->data_type_;
  return clamp(n * dtype_of_gradient(metadata, own, 0).itemsize());
}

/* `fits`: the gradients are handed on as they are. */
inline void
note_outputs(Evaluation *evaluation, const variable_list &outputs, bool fits) {
  const edge_list &edges = evaluation->node->next_edges_;
  evaluation->outputs.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) {
    const Tensor &gradient = outputs[i];
    bool sparse = is_sparse(gradient), is_dense = gradient.defined() && !sparse;
    bool changes = is_dense && !fits && i < edges.size();
    evaluation->outputs[i] = {gradient.defined(), sparse,
                              changes    ? bytes_when_fit(gradient, edges[i])
                              : is_dense ? bytes_of(gradient)
                                         : 0};
  }
}

} // namespace tapedeck
