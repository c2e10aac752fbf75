/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Exposed buffers, since PyTorch 2.15. A custom function may ask, while its backward runs, for the
 * sums that wait for the next nodes, and add to them by itself (ctx.input_grad_buffers). It then
 * returns no gradient there. The engine calls no function for such an addition. So the observer
 * compares the version of the sum when the function asked with the version when the node scatters.
 * Until then only this thread may touch the sum. */
#pragma once

#include "engine/probe/observer/gradients.hpp"
#include "engine/probe/observer/graph.hpp"

namespace tapedeck {

struct Exposure {
  Exposure *next;
  const Node *node; /* whose sum it is */
  uint32_t output_nr, input_nr;
  const at::TensorImpl *sum; /* never followed: the buffer has it as long as it is the sum */
  uint32_t version;
  unsigned found; /* what td_numerics_look found in it */
};

inline Exposure *
find_exposure(const Evaluation *evaluation, const Node *node, uint32_t input_nr) {
  Exposure *found = evaluation->exposures;
  while (found && (found->node != node || found->input_nr != input_nr))
    found = found->next;
  return found;
}

/* A function may ask several times; what the sum was at first counts. */
inline void
expose(Evaluation *evaluation, uint32_t output_nr, const Edge &edge, const Tensor &sum) {
  Node *node = edge.function.get();
  if (!sum.defined() || !node || find_exposure(evaluation, node, edge.input_nr)) return;
  td_gradient gradient;
  describe(sum.unsafeGetTensorImpl(), &gradient);
  evaluation->exposures = new Exposure{evaluation->exposures,
                                       node,
                                       output_nr,
                                       edge.input_nr,
                                       sum.unsafeGetTensorImpl(),
                                       gradient.version,
                                       td_numerics_anomalies ? td_numerics_look(&gradient) : 0};
  EMIT(buffer_expose, TIME_NOW, id_of(node), evaluation->task->id, edge.input_nr, evaluation->id,
       bytes_of(sum));
}

inline void
forget_exposures(Evaluation *evaluation) {
  while (Exposure *exposure = evaluation->exposures) {
    evaluation->exposures = exposure->next;
    delete exposure;
  }
}

/* Whether the node has added to the sum in this slot. The graph task's mutex is held. */
inline bool
has_added(const Evaluation *evaluation, const Edge &edge, uint32_t output_nr, const Tensor *slot) {
  if (LIKELY(!evaluation->exposures) || !slot || !slot->defined()) return false;
  const Exposure *exposure = find_exposure(evaluation, edge.function.get(), edge.input_nr);
  if (!exposure || exposure->output_nr != output_nr || exposure->sum != slot->unsafeGetTensorImpl())
    return false;
  td_gradient gradient;
  describe(slot->unsafeGetTensorImpl(), &gradient);
  if (gradient.version == exposure->version) return false;
  td_gradient_edge to = {id_of(edge.function.get()), edge.input_nr, TD_N_NUMBER_TYPES, 0};
  td_numerics_added(output_nr, exposure->found, &gradient, &to);
  return true;
}

#if TORCH_AT_LEAST(2, 15)
inline variable_list
input_grad_buffers_hook(Node *self) {
  variable_list sums = get_current_input_grad_buffers(self);
  Evaluation *evaluation = td_probe_is_on() && thread_self ? thread_self->evaluation : nullptr;
  if (!evaluation || evaluation->node != self) return sums;
  for (uint32_t i = 0; i < sums.size() && i < self->num_outputs(); i++)
    expose(evaluation, i, self->next_edges_[i], sums[i]);
  return sums;
}
#endif

} // namespace tapedeck
