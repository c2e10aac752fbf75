/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Passes: what is called instead of the engine's functions from execute to the last node. Each hook
 * does its own work around the original and lets exceptions pass. */
#pragma once

#include "engine/probe/observer/cuts.hpp"
#include "engine/probe/observer/evaluate.hpp"
#include "engine/probe/observer/roots.hpp"

namespace tapedeck {

using FuturePtr = c10::intrusive_ptr<at::ivalue::Future>;

/* A thread in a call of the engine that pops or pushes. */
struct Inside {
  Thread *thread;
  explicit Inside(Thread *thread) : thread(thread) {
    thread->inside++;
  }
  ~Inside() {
    thread->inside--;
  }
};

/* A thread in a node of a pass that is not recorded. */
struct Skipping {
  Thread *thread;
  bool skipped;
  explicit Skipping(Thread *thread) : thread(thread), skipped(thread->skips) {
    thread->skips = true;
  }
  ~Skipping() {
    thread->skips = skipped;
  }
};

/* graph tasks */

inline Task *
new_task(GraphTask *graph_task) {
  Task *task = world->tasks.obtain(graph_task, [&](Task &made) { made.graph_task = graph_task; });
  if (!task) return nullptr;
  task->graph_task = graph_task;
  task->id = world->n_tasks++;
  task->last = TD_NONE;
  return task;
}

/* A pass that is not recorded takes over the address. */
inline void
hide_task(GraphTask *graph_task) {
  Task *task = world->tasks.obtain(graph_task, [](Task &) {});
  if (task) task->graph_task = nullptr;
}

/* In the order of the ids: the engine's map is in the order of addresses. What this pass announced
 * has consecutive ids. */
inline void
emit_dependencies(const GraphTask &graph_task, const Task *task, uint32_t n_before) {
  Timed timed(TD_recorder_work_pass);
  std::vector<uint32_t> fresh(world->n_nodes - n_before, 0);
  std::vector<std::pair<uint32_t, uint32_t>> earlier;
  for (const auto &[node, count] : graph_task.dependencies_) {
    uint32_t id = id_of(node);
    if (id >= n_before && id - n_before < fresh.size())
      fresh[id - n_before] = static_cast<uint32_t>(count);
    else
      earlier.emplace_back(id, static_cast<uint32_t>(count));
  }
  /* The map gives what was put last first, so most lists are nearly in order from behind. */
  std::reverse(earlier.begin(), earlier.end());
  if (!std::is_sorted(earlier.begin(), earlier.end())) std::sort(earlier.begin(), earlier.end());
  for (const auto &[id, count] : earlier)
    EMIT(dependency, TIME_LAST, task->id, id, count);
  for (size_t i = 0; i < fresh.size(); i++)
    if (fresh[i])
      EMIT(dependency, TIME_LAST, task->id, n_before + static_cast<uint32_t>(i), fresh[i]);
}

/* Engine::execute: from graph_task_begin to graph_task_end. */
struct Calling : Call {
  Thread *thread;
  bool is_done = false;

  Calling(Thread *thread, bool keep_graph, bool create_graph, bool accumulate_grad,
          const edge_list &roots, size_t n_outputs)
      : Call{thread->call,    keep_graph,          create_graph,
             accumulate_grad, clamp(roots.size()), clamp(n_outputs)},
        thread(thread), roots(roots) {
    outer_task = thread->evaluation ? thread->evaluation->task : nullptr;
    outer_node = thread->evaluation ? thread->evaluation->id : TD_NONE;
    thread->call = this;
    td_probe_enter_pass();
  }

  ~Calling() {
    td_probe_leave_pass();
    thread->call = outer;
    if (!task) return;
    td_numerics_end_task(task->id);
    if (!outer_task) td_probe_look_at_core();
    EMIT(graph_task_end, TIME_NOW, task->id, is_done ? TD_task_status_ok : TD_task_status_error);
    if (outer_task)
      EMIT(reentrant_leave, TIME_LAST, task->id, outer_task->id, outer_node,
           static_cast<uint32_t>(task_depth));
    go_on_outside();
    poll(TD_EVENT_graph_task_end, TD_NONE, task->id, nullptr);
  }

  int task_depth = 0;
  const edge_list &roots;

private:
  /* The thread is in the node, or in the final callback, that called backward. */
  void go_on_outside() const {
    if (outer_task)
      EMIT(thread_state, TIME_LAST, TD_thread_activity_processing, outer_task->id);
    else if (thread->finishing)
      EMIT(thread_state, TIME_LAST, TD_thread_activity_post_processing, thread->finishing->id);
  }
};

/* Is this thread in a pass that is recorded? A node may call backward, and so may the last callback
 * of a pass. */
inline bool
serves_recorded(const Thread *thread) {
  if (!td_probe_is_on() || thread->skips) return false;
  return thread->evaluation || thread->finishing;
}

/* A call of Engine::execute, recorded or not. */
struct Passing {
  Thread *thread;
  bool is_outermost, skipped;
  td_pass_ticket ticket{};

  explicit Passing(Thread *thread)
      : thread(thread), is_outermost(!thread->inside), skipped(thread->skips) {
    if (is_outermost) ticket = td_probe_pass_begin();
    bool recorded = is_outermost ? ticket.recorded && td_probe_is_on() : serves_recorded(thread);
    thread->skips = !recorded;
  }
  ~Passing() {
    thread->skips = skipped;
    if (!is_outermost) return;
    td_probe_pass_end(ticket);
    td_cuts_end_pass();
    if (!td_cuts_wanted()) cut_watch->follow(false);
  }
};

inline variable_list
execute_hook(Engine *self, const edge_list &roots, const variable_list &inputs, bool keep_graph,
             bool create_graph, bool accumulate_grad, const edge_list &outputs) {
  if (!thread_self) td_probe_name_caller();
  Passing passing(thread_now());
  if (passing.thread->skips)
    return self->Engine::execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  Calling calling(passing.thread, keep_graph, create_graph, accumulate_grad, roots, outputs.size());
  variable_list results =
      self->Engine::execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  calling.is_done = true;
  return results;
}

inline void
begin_graph_task(Thread *thread, Node *root, uint32_t root_id, const GraphTask &graph_task,
                 Task *task) {
  Calling *call = static_cast<Calling *>(thread->call);
  bool is_ours = call && !call->task; /* else it is not Engine::execute that runs it */
  EMIT(graph_task_begin, TIME_NOW, task->id, static_cast<uint32_t>(graph_task.reentrant_depth_),
       td_probe_thread(), graph_task.keep_graph_, is_ours && call->create_graph,
       is_ours && call->accumulate_grad, root_id, is_ours ? call->n_roots : root->num_outputs(),
       is_ours ? call->n_outputs : 0);
  if (!is_ours) return;
  if (!call->outer_task) td_probe_begin_core();
  call->task = task;
  call->task_depth = graph_task.reentrant_depth_;
  if (call->outer_task)
    EMIT(reentrant_enter, TIME_LAST, task->id, call->outer_task->id, call->outer_node,
         static_cast<uint32_t>(graph_task.reentrant_depth_));
  tell_roots(call->roots, task->id, id_of);
}

inline void
compute_dependencies_hook(Engine *self, Node *root, GraphTask &graph_task, uint64_t min_topo_nr) {
  Thread *thread = thread_now();
  if (!thread->call && !thread->skips) td_probe_begin();
  bool recorded = td_probe_is_on() && !thread->skips;
  Task *task = recorded ? new_task(&graph_task) : nullptr;
  if (!recorded) hide_task(&graph_task);
  if (!task) return self->Engine::compute_dependencies(root, graph_task, min_topo_nr);
  uint32_t n_before = world->n_nodes;
  uint32_t root_id = announcer->announce(root);
  task->root = root_id;
  td_leaves_name();
  begin_graph_task(thread, root, root_id, graph_task, task);
  poll(TD_EVENT_graph_task_begin, root_id, task->id, root);
  self->Engine::compute_dependencies(root, graph_task, min_topo_nr);
  emit_dependencies(graph_task, task, n_before);
}

inline void
emit_exec_info(const GraphTask &graph_task, const Task *task) {
  Timed timed(TD_recorder_work_pass);
  for (const auto &[node, info] : graph_task.exec_info_)
    EMIT(exec_info, TIME_LAST, task->id, id_of(node), info.needed_,
         info.captures_ ? clamp(info.captures_->size()) : 0);
}

/* Device threads are started now, as the engine is about to do: their queues must be known before
 * the first push. */
inline void
know_queues(Engine *self, const GraphTask &graph_task) {
  self->initialize_device_threads_pool();
  for (size_t device = 0; device < self->device_ready_queues_.size(); device++)
    know_queue(self->device_ready_queues_[device], static_cast<int32_t>(device), TD_NONE);
  /* A pass that a device's thread starts has that thread's queue. */
  know_queue(graph_task.cpu_ready_queue_, TD_DEVICE_CPU, td_probe_thread());
}

inline void
emit_roots(const Thread *thread, const InputBuffer &inputs) {
  for (size_t i = 0; i < inputs.buffer.size(); i++)
    if (inputs.buffer[i].defined())
      EMIT(buffer_add, TIME_LAST, thread->root, thread->root_task->id, clamp(i), TD_NONE,
           TD_accumulation_move, bytes_of(inputs.buffer[i]));
}

inline FuturePtr
execute_with_graph_task_hook(Engine *self, const std::shared_ptr<GraphTask> &graph_task,
                             NodePtr root, InputBuffer &&inputs) {
  Thread *thread = thread_now();
  Inside inside(thread); /* the queue's hidden tasks count, too */
  Task *task = td_probe_is_on() ? recorded_task(graph_task.get()) : nullptr;
  if (!task)
    return self->Engine::execute_with_graph_task(graph_task, std::move(root), std::move(inputs));
  know_queues(self, *graph_task);
  emit_exec_info(*graph_task, task);
  thread->root_task = task;
  thread->root = id_of(root.get());
  emit_roots(thread, inputs);
  FuturePtr future =
      self->Engine::execute_with_graph_task(graph_task, std::move(root), std::move(inputs));
  if (graph_task->reentrant_depth_ == 0)
    EMIT(thread_state, TIME_NOW, TD_thread_activity_outside, task->id);
  return future;
}

/* nodes */

inline void
evaluate_function_hook(Engine *self, std::shared_ptr<GraphTask> &graph_task, Node *node,
                       InputBuffer &inputs, const std::shared_ptr<ReadyQueue> &cpu_ready_queue) {
  Thread *thread = thread_now();
  Task *task = td_probe_is_on() ? find_task(thread, graph_task.get()) : nullptr;
  if (!task) {
    Skipping skipping(thread);
    return self->Engine::evaluate_function(graph_task, node, inputs, cpu_ready_queue);
  }
  Inside inside(thread);
  Evaluating evaluating(thread, graph_task.get(), task, node);
  NumericsEvaluation numerics(task->id, evaluating.id, task->root == evaluating.id, inputs.buffer);
  self->Engine::evaluate_function(graph_task, node, inputs, cpu_ready_queue);
  evaluating.finish();
}

/* What Python shows of an error: no backtrace of C++. */
inline const char *
shown_text(const std::exception &exception) {
  const auto *error = dynamic_cast<const c10::Error *>(&exception);
  return error ? error->what_without_backtrace() : exception.what();
}

inline void
thread_on_exception_hook(Engine *self, const std::shared_ptr<GraphTask> &graph_task,
                         const NodePtr &node, std::exception &exception) {
  Task *task = td_probe_is_on() ? recorded_task(graph_task.get()) : nullptr;
  if (task)
    EMIT(error, TIME_NOW, id_of(node.get()), task->id, td_probe_intern(shown_text(exception)));
  if (task) td_probe_note_error(id_of(node.get()));
  if (task) poll(TD_EVENT_error, id_of(node.get()), task->id, node.get());
  self->Engine::thread_on_exception(graph_task, node, exception);
  if (task) EMIT(outstanding, TIME_LAST, task->id, clamp(graph_task->outstanding_tasks_ - 1));
}

/* InputBuffer::add can be watched since 2.1; before, it is not exported. Versions differ in what
 * comes after the gradient: streams, and the node since 2.10. */
#if ADD_IS_EXPORTED
template <class Member> struct AddHook;
template <class... More> struct AddHook<void (InputBuffer::*)(size_t, Tensor &&, More...)> {
  static void call(InputBuffer *self, size_t position, Tensor &&gradient, More... more) {
    Evaluation *evaluation = td_probe_is_on() && thread_self ? thread_self->evaluation : nullptr;
    Arrival *arrival =
        evaluation && evaluation->holds_lock ? next_added(thread_self->scatter) : nullptr;
    if (!arrival || !gradient.defined()) return self->add(position, std::move(gradient), more...);
    const at::TensorImpl *before = self->buffer[position].unsafeGetTensorImpl();
    bool meets = self->buffer[position].defined();
    bool sparse = meets && (is_sparse(gradient) || is_sparse(self->buffer[position]));
    bool may_be_long = meets && arrival->bytes >= LONG_SUM_BYTES;
    uint64_t began = may_be_long ? td_clock_now() : 0;
    self->add(position, std::move(gradient), more...);
    uint64_t took = may_be_long ? td_clock_now() - began : 0;
    if (took >= LONG_SUM_TICKS) arrival->took = took;
    bool same = self->buffer[position].unsafeGetTensorImpl() == before;
    arrival->mode = !meets   ? TD_accumulation_move
                    : sparse ? TD_accumulation_sparse
                    : same   ? TD_accumulation_in_place
                             : TD_accumulation_out_of_place;
  }
};
#endif

} // namespace tapedeck
