/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gradients that nodes share. A node may hand one tensor on to several others, as a sum does. If
 * the first of these writes into it, the others get what it made. Who looks at the tensors before
 * and behind a call of the program's code sees that by their versions. Queues of other threads are
 * not searched. */
#pragma once

#include "engine/probe/observer/queues.hpp"

namespace tapedeck {

/* Calls `visit` for each node of a pass that waits, with the gradients it has got so far. A mutex
 * that is taken is left alone: the engine may hold it, and call the program from there. */
template <class Visit>
inline void
each_waiting(GraphTask *graph_task, Visit visit) {
  {
    std::unique_lock<std::mutex> lock(graph_task->mutex_, std::try_to_lock);
    if (!lock) return;
    for (const auto &[node, inputs] : graph_task->not_ready_)
      visit(node, inputs.buffer);
  }
  ReadyQueue *queue = graph_task->cpu_ready_queue_.get();
  if (!queue) return;
  std::unique_lock<std::mutex> lock(queue->mutex_, std::try_to_lock);
  if (!lock) return;
  for (const NodeTask &task : heap_of(queue))
    if (task.fn_ && task.base_._M_ptr == graph_task) visit(task.fn_.get(), task.inputs_.buffer);
}

/* The version counters of gradients, from before a call that may write into them. */
class Shared {
public:
  explicit Shared(const variable_list &gradients) {
    for (const Tensor &gradient : gradients) {
      const auto &counter = counter_of(gradient);
      if (counter) versions.push_back({counter, counter->version_});
    }
  }

  /* `id_of` gives the id of a node, `hook` is an interned string. */
  template <class IdOf> void tell(const Evaluation *evaluation, uint32_t hook, IdOf id_of) const {
    for (const auto &[counter, before] : versions)
      if (UNLIKELY(counter->version_ != before)) tell_of(counter.get(), evaluation, hook, id_of);
  }

private:
  using Counter = decltype(c10::VariableVersion::version_counter_);
  c10::SmallVector<std::pair<Counter, uint32_t>, 4> versions;

  static const Counter &counter_of(const Tensor &tensor) {
    static const Counter none;
    return tensor.defined() ? tensor.unsafeGetTensorImpl()->version_counter_.version_counter_
                            : none;
  }

  template <class IdOf>
  static void tell_of(const void *counter, const Evaluation *evaluation, uint32_t hook,
                      IdOf id_of) {
    each_waiting(evaluation->graph_task, [&](Node *node, const variable_list &gradients) {
      for (const Tensor &gradient : gradients)
        if (counter_of(gradient).get() == counter) {
          EMIT(gradient_written, TIME_NOW, evaluation->id, evaluation->task->id, id_of(node), hook);
          return;
        }
    });
  }
};

} // namespace tapedeck
