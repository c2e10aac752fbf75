/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The observer of PyTorch's engine: what is called instead of the engine's functions. Each hook
 * does its own work around the original and lets exceptions pass. Names are matched by their
 * beginnings, so that one list serves all versions: a shared_ptr that is passed by value and one
 * that is passed by reference are the same pointer to whoever is called. */
#include "engine/probe/observer/creation.hpp"
#include "engine/probe/observer/evaluate.hpp"
#include "engine/probe/observer/final_callbacks.hpp"
#include "engine/probe/observer/forward.hpp"

#include <condition_variable>
#include <unistd.h>

namespace tapedeck {

World *world = new World;
Classes *classes = new Classes;
Announcer *announcer = new Announcer;
__thread Thread *thread_self;
__thread td_ring *ring_self;
__thread uint32_t ring_session;

namespace {

using FuturePtr = c10::intrusive_ptr<at::ivalue::Future>;

pthread_key_t thread_key;

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

Task *
new_task(GraphTask *graph_task) {
  Task *task = world->tasks.obtain(graph_task, [&](Task &made) { made.graph_task = graph_task; });
  if (!task) return nullptr;
  task->graph_task = graph_task;
  task->id = world->n_tasks++;
  task->last = TD_NONE;
  return task;
}

/* A pass that is not recorded takes over the address. */
void
hide_task(GraphTask *graph_task) {
  Task *task = world->tasks.obtain(graph_task, [](Task &) {});
  if (task) task->graph_task = nullptr;
}

/* In the order of the ids: the engine's map is in the order of addresses. What this pass announced
 * has consecutive ids. */
void
emit_dependencies(const GraphTask &graph_task, const Task *task, uint32_t n_before) {
  std::vector<uint32_t> fresh(world->n_nodes - n_before, 0);
  std::vector<std::pair<uint32_t, uint32_t>> earlier;
  for (const auto &[node, count] : graph_task.dependencies_) {
    uint32_t id = id_of(node);
    if (id >= n_before && id - n_before < fresh.size())
      fresh[id - n_before] = static_cast<uint32_t>(count);
    else
      earlier.emplace_back(id, static_cast<uint32_t>(count));
  }
  std::sort(earlier.begin(), earlier.end());
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

  Calling(Thread *thread, bool keep_graph, bool create_graph, bool accumulate_grad, size_t n_roots,
          size_t n_outputs)
      : Call{thread->call,    keep_graph,     create_graph,
             accumulate_grad, clamp(n_roots), clamp(n_outputs)},
        thread(thread) {
    outer_task = thread->evaluation ? thread->evaluation->task : nullptr;
    outer_node = thread->evaluation ? thread->evaluation->id : TD_NONE;
    thread->call = this;
  }

  ~Calling() {
    thread->call = outer;
    if (!task) return;
    td_numerics_end_task(task->id);
    EMIT(graph_task_end, TIME_NOW, task->id, is_done ? TD_task_status_ok : TD_task_status_error);
    if (outer_task)
      EMIT(reentrant_leave, TIME_LAST, task->id, outer_task->id, outer_node,
           static_cast<uint32_t>(task_depth));
    poll(TD_EVENT_graph_task_end, TD_NONE, task->id, nullptr);
  }

  int task_depth = 0;
};

/* Is this thread in a pass that is recorded? A node may call backward, and so may the last callback
 * of a pass. */
bool
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
    if (is_outermost) td_probe_pass_end(ticket);
  }
};

variable_list
execute_hook(Engine *self, const edge_list &roots, const variable_list &inputs, bool keep_graph,
             bool create_graph, bool accumulate_grad, const edge_list &outputs) {
  if (!thread_self) td_probe_name_caller();
  Passing passing(thread_now());
  if (passing.thread->skips)
    return self->Engine::execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  Calling calling(passing.thread, keep_graph, create_graph, accumulate_grad, roots.size(),
                  outputs.size());
  variable_list results =
      self->Engine::execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  calling.is_done = true;
  return results;
}

void
begin_graph_task(Thread *thread, Node *root, uint32_t root_id, const GraphTask &graph_task,
                 Task *task) {
  Calling *call = static_cast<Calling *>(thread->call);
  bool is_ours = call && !call->task; /* else it is not Engine::execute that runs it */
  EMIT(graph_task_begin, TIME_NOW, task->id, static_cast<uint32_t>(graph_task.reentrant_depth_),
       td_probe_thread(), graph_task.keep_graph_, is_ours && call->create_graph,
       is_ours && call->accumulate_grad, root_id, is_ours ? call->n_roots : root->num_outputs(),
       is_ours ? call->n_outputs : 0);
  if (!is_ours) return;
  call->task = task;
  call->task_depth = graph_task.reentrant_depth_;
  if (call->outer_task)
    EMIT(reentrant_enter, TIME_LAST, task->id, call->outer_task->id, call->outer_node,
         static_cast<uint32_t>(graph_task.reentrant_depth_));
}

void
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

void
emit_exec_info(const GraphTask &graph_task, const Task *task) {
  for (const auto &[node, info] : graph_task.exec_info_)
    EMIT(exec_info, TIME_LAST, task->id, id_of(node), info.needed_,
         info.captures_ ? clamp(info.captures_->size()) : 0);
}

/* Device threads are started now, as the engine is about to do: their queues must be known before
 * the first push. */
void
know_queues(Engine *self, const GraphTask &graph_task) {
  self->initialize_device_threads_pool();
  for (size_t device = 0; device < self->device_ready_queues_.size(); device++)
    know_queue(self->device_ready_queues_[device], static_cast<int32_t>(device), TD_NONE);
  /* A pass that a device's thread starts has that thread's queue. */
  know_queue(graph_task.cpu_ready_queue_, TD_DEVICE_CPU, td_probe_thread());
}

void
emit_roots(const Thread *thread, const InputBuffer &inputs) {
  for (size_t i = 0; i < inputs.buffer.size(); i++)
    if (inputs.buffer[i].defined())
      EMIT(buffer_add, TIME_LAST, thread->root, thread->root_task->id, clamp(i), TD_NONE,
           TD_accumulation_move, bytes_of(inputs.buffer[i]));
}

FuturePtr
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

void
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
const char *
shown_text(const std::exception &exception) {
  const auto *error = dynamic_cast<const c10::Error *>(&exception);
  return error ? error->what_without_backtrace() : exception.what();
}

void
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
    self->add(position, std::move(gradient), more...);
    bool same = self->buffer[position].unsafeGetTensorImpl() == before;
    arrival->mode = !meets   ? TD_accumulation_move
                    : sparse ? TD_accumulation_sparse
                    : same   ? TD_accumulation_in_place
                             : TD_accumulation_out_of_place;
  }
};
#endif

/* threads */

/* At its end the engine pushes a shutdown task to every device's queue. */
void
stop_hook(Engine *self) {
  Inside inside(thread_now());
  self->Engine::stop();
}

void
thread_init_hook(Engine *self, int device, const std::shared_ptr<ReadyQueue> &queue,
                 bool should_increment) {
  td_probe_name_thread(("pt_autograd_" + std::to_string(device)).c_str(), device);
  if (td_probe_is_on()) know_queue(queue, device, TD_NONE);
  self->Engine::thread_init(device, queue, should_increment);
}

/* The pool's threads may have come while the recording paused. */
void
tell_of_pool(Thread *thread) {
  if (!td_probe_is_on() || thread->told_in_session == td_probe_session) return;
  thread->told_in_session = td_probe_session;
  EMIT(pool_thread_new, TIME_NOW, td_probe_thread());
}

void
thread_main_hook(Engine *self, const std::shared_ptr<GraphTask> &graph_task) {
  Thread *thread = thread_now();
  Inside inside(thread);
  GraphTask *outer = thread->own;
  thread->own = graph_task.get();
  if (thread->in_pool) tell_of_pool(thread);
  self->Engine::thread_main(graph_task);
  if (td_probe_is_on()) settle(thread);
  thread->own = outer;
}

void
reentrant_thread_init_hook(Engine *self) {
  td_probe_name_thread("pt_autograd_pool", TD_DEVICE_CPU);
  Thread *thread = thread_now();
  thread->in_pool = true;
  tell_of_pool(thread);
  self->Engine::reentrant_thread_init();
}

void
add_thread_pool_task_hook(Engine *self, const std::weak_ptr<GraphTask> &graph_task) {
  Task *task = td_probe_is_on() ? recorded_task(graph_task._M_ptr) : nullptr;
  if (task) EMIT(pool_push, TIME_NOW, task->id);
  self->Engine::add_thread_pool_task(graph_task);
}

void
thread_gone_cb(void *data) {
  thread_self = nullptr;
  ring_session = SESSION_ENDING;
  delete static_cast<Thread *>(data);
}

/* mutexes and conditions, as libtorch_cpu calls them */

/* One that is known: waiting for it is told, and so is the end of what others waited for. */
int
lock_known(pthread_mutex_t *mutex, td_lock_kind kind, uint32_t object, bool *is_contended) {
  *is_contended = false;
  if (LIKELY(pthread_mutex_trylock(mutex) == 0)) return 0;
  uint64_t begin = td_clock_now();
  EMIT(lock_wait, begin, kind, object);
  int result = pthread_mutex_lock(mutex);
  uint64_t end = td_clock_ordered();
  EMIT(lock_acquired, end, kind, object, end - begin);
  *is_contended = true;
  return result;
}

void
note_unlocking(td_lock_kind kind, uint32_t object, bool *is_contended) {
  if (LIKELY(!*is_contended)) return;
  *is_contended = false;
  EMIT(lock_released, TIME_NOW, kind, object);
}

/* The thread that finished a pass takes its mutex to complete it. */
void
note_completed(Thread *thread) {
  uint32_t task = thread->done_task ? thread->done_task->id : TD_NONE;
  thread->done_mutex = nullptr;
  EMIT(thread_state, TIME_NOW, TD_thread_activity_completed, task);
  EMIT(thread_state, TIME_LAST, TD_thread_activity_post_processing, task);
}

int
watched_lock(Thread *thread, pthread_mutex_t *mutex) {
  Evaluation *evaluation = thread->evaluation;
  if (evaluation && mutex == native(evaluation->graph_task->mutex_)) {
    int result =
        lock_known(mutex, TD_lock_kind_graph_task, evaluation->task->id, &thread->task_contended);
    task_locked(thread, evaluation);
    return result;
  }
  if (Queue *queue = find_queue(thread, mutex)) {
    int result = lock_known(mutex, TD_lock_kind_queue, queue->id, &thread->queue_contended);
    queue_locked(thread, queue);
    return result;
  }
  int result = pthread_mutex_lock(mutex);
  if (mutex == thread->done_mutex) note_completed(thread);
  return result;
}

int
mutex_lock_hook(pthread_mutex_t *mutex) {
  Thread *thread = thread_self;
  if (LIKELY(!thread || !thread->inside || !td_probe_is_on())) return pthread_mutex_lock(mutex);
  return watched_lock(thread, mutex);
}

int
mutex_unlock_hook(pthread_mutex_t *mutex) {
  Thread *thread = thread_self;
  if (LIKELY(!thread || !thread->inside || !td_probe_is_on())) return pthread_mutex_unlock(mutex);
  Evaluation *evaluation = thread->evaluation;
  Queue *queue = held_queue(thread);
  if (queue && mutex == native(queue->queue->mutex_)) {
    queue_unlocking(thread);
    note_unlocking(TD_lock_kind_queue, queue->id, &thread->queue_contended);
  } else if (evaluation && mutex == native(evaluation->graph_task->mutex_)) {
    task_unlocking(thread, evaluation);
    note_unlocking(TD_lock_kind_graph_task, evaluation->task->id, &thread->task_contended);
  }
  return pthread_mutex_unlock(mutex);
}

/* A wait for a queue is one of a thread in the engine. */
template <class Wait>
void
watch_wait(pthread_mutex_t *mutex, Wait wait) {
  Thread *thread = thread_self;
  if (!thread || !thread->inside) return wait();
  Queue *queue = td_probe_is_on() ? held_queue(thread) : nullptr;
  if (queue && mutex == native(queue->queue->mutex_))
    note_unlocking(TD_lock_kind_queue, queue->id, &thread->queue_contended);
  sleep_on_queue(thread, mutex, wait);
}

void
condition_wait_hook(std::condition_variable *condition, std::unique_lock<std::mutex> &lock) {
  watch_wait(native(*lock.mutex()), [&] { condition->wait(lock); });
}

int
cond_wait_hook(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  int result = 0;
  watch_wait(mutex, [&] { result = pthread_cond_wait(condition, mutex); });
  return result;
}

/* attaching */

#define CPU "libtorch_cpu.so"
#define PYTHON "libtorch_python.so"
#define ENGINE "_ZN5torch8autograd6Engine"
#define INPUT_GRAD_BUFFERS "_ZN5torch8autograd30get_current_input_grad_buffersE"
#define HOOK(library, symbol, hook)                                                                \
  { library, symbol, reinterpret_cast<void *>(hook), false }
#define ENGINE_HOOK(symbol, hook) HOOK(CPU, ENGINE symbol, hook), HOOK(PYTHON, ENGINE symbol, hook)
/* What is called for each node. It yields while the recording pauses. */
#define NODE_HOOK(library, symbol, hook)                                                           \
  { library, symbol, reinterpret_cast<void *>(hook), true }

const td_relocation relocations[] = {
    ENGINE_HOOK("7executeE", execute_hook),
    ENGINE_HOOK("23execute_with_graph_taskE", execute_with_graph_task_hook),
    ENGINE_HOOK("20compute_dependenciesE", compute_dependencies_hook),
    NODE_HOOK(CPU, ENGINE "17evaluate_functionE", evaluate_function_hook),
    NODE_HOOK(PYTHON, ENGINE "17evaluate_functionE", evaluate_function_hook),
    ENGINE_HOOK("19thread_on_exceptionE", thread_on_exception_hook),
    ENGINE_HOOK("14queue_callbackE", queue_callback_hook),
    ENGINE_HOOK("4stopE", stop_hook),
    ENGINE_HOOK("11thread_initE", thread_init_hook),
    ENGINE_HOOK("11thread_mainE", thread_main_hook),
    ENGINE_HOOK("21reentrant_thread_initE", reentrant_thread_init_hook),
    ENGINE_HOOK("20add_thread_pool_taskE", add_thread_pool_task_hook),
#if ADD_IS_EXPORTED
    NODE_HOOK(CPU, "_ZN5torch8autograd11InputBuffer3addE",
              AddHook<decltype(&InputBuffer::add)>::call),
#endif
#if TORCH_AT_LEAST(2, 15)
    HOOK(CPU, INPUT_GRAD_BUFFERS, input_grad_buffers_hook),
    HOOK(PYTHON, INPUT_GRAD_BUFFERS, input_grad_buffers_hook),
#endif
    NODE_HOOK(CPU, "pthread_mutex_lock", mutex_lock_hook),
    NODE_HOOK(CPU, "pthread_mutex_unlock", mutex_unlock_hook),
    HOOK(CPU, "pthread_cond_wait", cond_wait_hook),
    HOOK(CPU, "_ZNSt18condition_variable4waitE", condition_wait_hook),
    {},
};

td_relocated *relocated;
at::CallbackHandle forward_handle = at::INVALID_CALLBACK_HANDLE;

void
watch_forward(bool watches) {
  bool is_watching = forward_handle != at::INVALID_CALLBACK_HANDLE;
  if (!td_numerics_anomalies || watches == is_watching) return;
  if (watches)
    forward_handle = forward_watch();
  else
    forward_unwatch(forward_handle);
  if (!watches) forward_handle = at::INVALID_CALLBACK_HANDLE;
}

bool
attach() {
  size_t n;
  pthread_key_create(&thread_key, thread_gone_cb);
  relocated = td_relocations_point(relocations, &n);
#if TORCH_AT_LEAST(2, 14)
  watch_creation();
#endif
  watch_forward(true);
  return n > 0;
}

void
detach() {
  td_relocations_restore(relocated);
  relocated = nullptr;
  classes->restore();
  watch_forward(false);
}

void
pause() {
  classes->pause();
  if (td_ids_n_alive(world->nodes) == 0) classes->rest();
  td_relocations_pause(relocated);
  watch_forward(false);
}

void
resume() {
  world->period++;
  classes->resume();
  td_relocations_resume(relocated);
  watch_forward(true);
}

void
say_known(const char *kind, td_knowledge how) {
  EMIT(known, TIME_NOW, td_probe_intern(kind), how);
}

/* Numbers begin anew with each tape. */
void
begin() {
  ring_self = td_probe_ring(); /* td_probe_session is not set yet */
  ring_session = td_probe_session;
  td_ids_clear(world->nodes);
  world->n_nodes = 0;
  world->n_tasks = 0;
  say_known("buffer_add", ADD_IS_EXPORTED ? TD_knowledge_observed : TD_knowledge_reconstructed);
  for (const char *kind : {"kernel_begin", "kernel_end"})
    say_known(kind, TD_knowledge_absent);
  if (!td_numerics_anomalies) say_known("anomaly", TD_knowledge_absent);
  if (!td_numerics_statistics) say_known("tensor_stats", TD_knowledge_absent);
  ring_self = nullptr;
}

} // namespace

td_ring *
ring_obtain() {
  td_ring *ring = td_probe_ring();
  if (ring_session == SESSION_ENDING) return ring;
  ring_session = td_probe_session;
  return ring_self = ring;
}

Thread *
thread_make() {
  thread_self = new Thread{};
  pthread_setspecific(thread_key, thread_self);
  return thread_self;
}

} // namespace tapedeck

bool td_clock_has_counter;

const td_observer *
td_observer_get(void) {
  td_clock_has_counter = *td_probe_has_counter;
  static const td_observer observer = {TORCH_VERSION,   tapedeck::attach, tapedeck::detach,
                                       tapedeck::begin, tapedeck::pause,  tapedeck::resume};
  return &observer;
}
