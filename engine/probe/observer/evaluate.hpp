/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * evaluate_function, and inside it the node's own apply. A call of apply counts only if it is the
 * engine's: other nodes call the ones that they wrap. */
#pragma once

#include "engine/probe/observer/hooks.hpp"
#include "engine/probe/observer/queues.hpp"
#include "engine/probe/observer/written.hpp"

namespace tapedeck {

/* How AccumulateGrad stored a gradient, from what was there before and after. */
class Accumulation {
public:
  Accumulation(const Node *node, const variable_list &inputs)
      : variable(static_cast<const AccumulateGrad *>(node)->variable) {
    const AutogradMeta *meta = meta_of_variable();
    is_stored = !inputs.empty() && inputs[0].defined() && meta && meta->requires_grad_;
    if (!is_stored) return;
    sparse = is_sparse(inputs[0]);
    storage = storage_of(inputs[0]);
    before = grad();
  }

  void look(const Evaluation *evaluation, const variable_list &inputs) const {
    if (is_stored)
      look_at_leaf(evaluation->task->id, evaluation->id,
                   static_cast<AccumulateGrad *>(evaluation->node), inputs[0]);
  }

  void emit(const Evaluation *evaluation) const {
    const at::TensorImpl *after = is_stored ? grad() : nullptr;
    if (!after) return;
    td_accumulation mode = before == after                        ? TD_accumulation_in_place
                           : before                               ? TD_accumulation_out_of_place
                           : sparse                               ? TD_accumulation_sparse
                           : storage == storage_of(grad_tensor()) ? TD_accumulation_steal
                                                                  : TD_accumulation_copy;
    EMIT(accumulate, TIME_NOW, evaluation->id, evaluation->task->id, mode);
  }

private:
  const Tensor &variable;
  bool is_stored, sparse = false; /* a leaf that was detached meanwhile stores nothing */
  const void *storage = nullptr;
  const at::TensorImpl *before = nullptr;

  const AutogradMeta *meta_of_variable() const {
    return static_cast<const AutogradMeta *>(variable.unsafeGetTensorImpl()->autograd_meta_.get());
  }

  const Tensor &grad_tensor() const {
    return meta_of_variable()->grad_;
  }

  const at::TensorImpl *grad() const {
    if (!meta_of_variable()) return nullptr;
    const Tensor &now = grad_tensor();
    return now.defined() ? now.unsafeGetTensorImpl() : nullptr;
  }

  static const void *storage_of(const Tensor &tensor) {
    return tensor.unsafeGetTensorImpl()->storage_.storage_impl_.get();
  }
};

inline void
poll(td_event_kind kind, uint32_t id, uint32_t task, Node *node) {
  if (td_probe_may_stop()) td_probe_poll(kind, id, task, node ? text_of(node) : nullptr);
}

/* From node_begin to node_end, also when an exception passes. */
struct Applying {
  Evaluation *evaluation;
  uint64_t began;
  explicit Applying(Evaluation *evaluation) : evaluation(evaluation) {
    evaluation->phase = Phase::applying;
    EMIT(node_begin, TIME_NOW, evaluation->id, evaluation->task->id);
    began = begin_stretch();
    poll(TD_EVENT_node_begin, evaluation->id, evaluation->task->id, evaluation->node);
  }
  ~Applying() {
    evaluation->phase = Phase::applied;
    end_stretch(began);
    EMIT(node_end, TIME_NOW, evaluation->id, evaluation->task->id);
  }
};

inline variable_list
run_apply(const NodeClass *found, Evaluation *evaluation, variable_list &&inputs) {
  Applying applying(evaluation);
  if (found->is_accumulate_grad) {
    Accumulation accumulation(evaluation->node, inputs);
    accumulation.look(evaluation, inputs);
    variable_list outputs = found->apply(evaluation->node, std::move(inputs));
    accumulation.emit(evaluation);
    return outputs;
  }
  if (UNLIKELY(found->is_python)) {
    Shared shared(inputs);
    variable_list outputs = found->apply(evaluation->node, std::move(inputs));
    shared.tell(evaluation, 0, id_of);
    note_outputs(evaluation, outputs, false);
    return outputs;
  }
  variable_list outputs = found->apply(evaluation->node, std::move(inputs));
  note_outputs(evaluation, outputs, false);
  return outputs;
}

inline variable_list
apply_hook(Node *self, variable_list &&inputs) {
  Evaluation *evaluation = thread_self ? thread_self->evaluation : nullptr;
  if (!evaluation || evaluation->node != self || evaluation->phase != Phase::before)
    return classes->find(self)->apply(self, std::move(inputs));
  const NodeClass *found = evaluation->found;
  bool gives_roots = self->num_inputs() == 0 && evaluation->id == evaluation->task->root;
  NumericsApply numerics(self, found->is_accumulate_grad, inputs);
  meet_leaf_hook_of(self, found);
  variable_list outputs = run_apply(found, evaluation, std::move(inputs));
  meet_post_hooks(self);
  if (numerics.end(outputs, gives_roots, id_of))
    tell_saved_numbers(self, found->saved, evaluation->id, evaluation->task->id);
  return outputs;
}

inline void
destroy(Node *self, int which) {
  void (*destructor)(Node *) = classes->find(self)->destroy[which];
  forget(self);
  destructor(self);
}

inline void
destroy_complete_hook(Node *self) {
  destroy(self, 0);
}

inline void
destroy_deleting_hook(Node *self) {
  destroy(self, 1);
}

/* A leaf refers to its AccumulateGrad weakly: the node may be gone long before its memory is. */
inline void
release_hook(Node *self) {
  forget(self);
  classes->find(self)->release(self);
}

/* The engine calls this behind apply, unless the graph is kept. */
inline void
release_variables_hook(Node *self) {
  const NodeClass *found = classes->find(self);
  bool is_known = td_probe_is_on() && td_ids_find(world->nodes, self) != TD_NONE;
  if (is_known) drop_saved(self, found);
  found->release_variables(self);
  Evaluation *evaluation = evaluation_now();
  if (evaluation && evaluation->node == self)
    EMIT(release, TIME_NOW, evaluation->id, evaluation->task->id);
}

/* The name of the parameter that a tensor is, or a view of; or 0. */
inline uint32_t
label_of_memory(const at::TensorImpl *impl) {
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta_.get());
  uint32_t label = td_stacks_label(impl);
  if (label || !meta || !meta->is_view_) return label;
  const auto *view = static_cast<const torch::autograd::DifferentiableViewMeta *>(meta);
  return view->has_bw_view()
             ? td_stacks_label(view->get_backward_view().base_.unsafeGetTensorImpl())
             : 0;
}

/* A saved tensor that was written into since cannot be unpacked. */
inline void
tell_of_conflict(const SavedVariable *self) {
  const Evaluation *evaluation = evaluation_now();
  if (!evaluation || !evaluation->found || !self->data_.defined()) return;
  uint32_t now = self->data_.unsafeGetTensorImpl()->version_counter_.current_version(), nr = 0;
  if (now == self->saved_version_) return;
  each_saved(evaluation->node, evaluation->found->saved,
             [&](uint32_t number, const SavedVariable &saved) {
               if (&saved == self) nr = number;
             });
  uint32_t counter = counters->find(*self);
  Written::Write write =
      written->find(Counters::of(*self), self->saved_version_ + 1, evaluation->node);
  if (write.operation)
    EMIT(tensor_write, TIME_NOW, counter, write.version, write.operation, TD_NONE, write.stack);
  EMIT(version_conflict, TIME_NOW, evaluation->id, evaluation->task->id, nr, counter,
       self->saved_version_, now, label_of_memory(self->data_.unsafeGetTensorImpl()));
}

inline Tensor
unpack_hook(const SavedVariable *self, NodePtr saved_for) {
  try {
    return self->unpack(std::move(saved_for));
  } catch (...) {
    tell_of_conflict(self);
    throw;
  }
}

/* The graph task's mutex: evaluate_function takes it for captures, before apply, and for the
 * scatter, last of all. */
inline void
task_locked(Thread *thread, Evaluation *evaluation) {
  bool scatters = evaluation->phase == Phase::applied && !evaluation->node->next_edges_.empty();
  if (!scatters) return;
  evaluation->phase = Phase::scattering;
  evaluation->holds_lock = true;
  begin_scatter(thread, evaluation);
}

inline void
emit_captures(Evaluation *evaluation) {
  const auto &exec_info = evaluation->graph_task->exec_info_;
  auto info = exec_info.find(evaluation->node);
  if (info == exec_info.end() || !info->second.captures_ || evaluation->captured) return;
  uint64_t time = stamp(&evaluation->task->last);
  evaluation->captured = true;
  for (const auto &capture : *info->second.captures_) {
    EMIT(capture, time, evaluation->id, evaluation->task->id,
         static_cast<uint32_t>(capture.input_idx_), static_cast<uint32_t>(capture.output_idx_));
    time = TIME_LAST;
  }
}

inline void
task_unlocking(Thread *thread, Evaluation *evaluation) {
  if (evaluation->phase == Phase::before) emit_captures(evaluation);
  if (!evaluation->holds_lock) return;
  end_scatter(thread, evaluation);
  evaluation->holds_lock = false;
  evaluation->phase = Phase::scattered;
}

inline const NodeClass *
find_class(Thread *thread, const Node *node) {
  void **vtable = vtable_of(node);
  size_t at = reinterpret_cast<uintptr_t>(vtable) / 64 % 16;
  if (LIKELY(thread->found_vtables[at] == vtable)) return thread->found_classes[at];
  const NodeClass *found = classes->find(node);
  if (found) thread->found_vtables[at] = vtable;
  return thread->found_classes[at] = found;
}

/* A call of evaluate_function on this thread's stack. */
struct Evaluating : Evaluation {
  Thread *thread;

  Evaluating(Thread *thread, GraphTask *graph_task, Task *task, Node *node)
      : Evaluation{}, thread(thread) {
    bool is_popped = thread->popped.node == node && thread->popped.task == task;
    outer = thread->evaluation;
    this->graph_task = graph_task;
    this->task = task;
    this->node = node;
    id = is_popped ? thread->popped.id : id_of(node);
    thread->popped.pending = false;
    thread->evaluation = this;
    found = find_class(thread, node);
    meet_pre_hooks(node, found);
  }

  ~Evaluating() {
    if (UNLIKELY(exposures)) forget_exposures(this);
    thread->evaluation = outer;
    thread->done_task = task;
    thread->done_mutex = native(graph_task->mutex_);
  }

  void finish() {
    end_stretch(begin_stretch()); /* since it began to hand gradients on, or to let go of them */
    if (phase == Phase::before && !captured)
      EMIT(node_skip, TIME_LAST, id, task->id, TD_skip_reason_not_needed);
    EMIT(outstanding, TIME_LAST, task->id, clamp(graph_task->outstanding_tasks_ - 1));
    if (phase != Phase::before) poll(TD_EVENT_node_end, id, task->id, node);
  }
};

} // namespace tapedeck
