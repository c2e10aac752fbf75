/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The values that passes begin at. The engine gets edges alone. But Python asks for the edge of
 * each root right before it calls the engine, and for that of each input of a custom function. A
 * value is read then, if it is one number, as a loss is: nothing is kept of a tensor. */
#pragma once

#include "engine/probe/observer/gradients.hpp"

namespace tapedeck {

/* The last values of a thread that were not finite. */
struct BadRoots {
  static constexpr size_t N = 4;
  struct Root {
    Node *node;
    uint32_t input_nr;
    td_leaf_sight what;
  } items[N];
  size_t next;

  Root *find(const Edge &edge) {
    for (Root &root : items)
      if (root.node && root.node == edge.function.get() && root.input_nr == edge.input_nr)
        return &root;
    return nullptr;
  }
};

inline thread_local BadRoots bad_roots;

inline bool
is_number(const at::TensorImpl *impl) {
  return impl->matches_policy(at::TensorImpl::SizesStridesPolicy::Default) && impl->numel_ == 1;
}

inline Edge
gradient_edge_hook(const Tensor &tensor) {
  Edge edge = torch::autograd::impl::gradient_edge(tensor);
  at::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  if (!edge.function || !is_number(impl)) return edge;
  td_gradient value;
  describe(impl, &value);
  unsigned found = value.identity ? td_numerics_look(&value) : 0;
  BadRoots::Root *root = bad_roots.find(edge);
  if (root && !found) root->node = nullptr;
  if (!found) return edge;
  if (!root) root = &bad_roots.items[bad_roots.next++ % BadRoots::N];
  *root = {edge.function.get(), edge.input_nr,
           found & TD_NUMBERS_NAN ? TD_leaf_sight_nan : TD_leaf_sight_inf};
  return edge;
}

/* The roots have entered the tape. */
template <class IdOf>
inline void
tell_roots(const edge_list &roots, uint32_t task, IdOf id_of) {
  for (const Edge &edge : roots) {
    BadRoots::Root *root = edge.function ? bad_roots.find(edge) : nullptr;
    if (!root) continue;
    EMIT(root_look, TIME_LAST, id_of(root->node), task, root->what);
    root->node = nullptr;
  }
}

} // namespace tapedeck
