/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The observer of PyTorch's engine: the table of functions that are called instead of the engine's,
 * and those of them that begin and end threads. The table has the beginnings of names, so that one
 * table serves all versions: a shared_ptr that is passed by value and one that is passed by
 * reference are the same pointer to whoever is called. */
#include "engine/probe/observer/creation.hpp"
#include "engine/probe/observer/cuts.hpp"
#include "engine/probe/observer/final_callbacks.hpp"
#include "engine/probe/observer/forward.hpp"
#include "engine/probe/observer/groups.hpp"
#include "engine/probe/observer/locks.hpp"
#include "engine/probe/observer/passes.hpp"

/* All that the observer allocates. An exception would end the program's pass. */
__attribute__((visibility("hidden"))) void *
operator new(std::size_t n_bytes) {
  return td_probe_alloc(n_bytes);
}

__attribute__((visibility("hidden"))) void
operator delete(void *block) noexcept {
  std::free(block);
}

__attribute__((visibility("hidden"))) void
operator delete(void *block, std::size_t) noexcept {
  std::free(block);
}

namespace tapedeck {

World *world = new World;
Classes *classes = new Classes;
Announcer *announcer = new Announcer;
Measure *measure = new Measure;
PythonLists *python_lists = new PythonLists{};
Counters *counters = new Counters;
Collectives *collectives = new Collectives;
#if HAS_GROUPS
Groups *groups = new Groups;
#endif
CutWatch *cut_watch = new CutWatch;
Written *written = new Written;
CutBudget *cut_budget = new CutBudget;
VariableData variable_data;
TLS_QUICK Thread *thread_self;
TLS_QUICK td_ring *ring_self;
TLS_QUICK uint32_t ring_session;
TLS_QUICK Finite *finite_self;
void *(*python_call)(void *, void *);

namespace {

pthread_key_t thread_key, finite_key;

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

/* A thread of the engine waits for passes, or works for them. */
struct Serving {
  Serving() {
    td_probe_enter_pass();
  }
  ~Serving() {
    td_probe_leave_pass();
  }
};

void
thread_main_hook(Engine *self, const std::shared_ptr<GraphTask> &graph_task) {
  Thread *thread = thread_now();
  Inside inside(thread);
  GraphTask *outer = thread->own;
  thread->own = graph_task.get();
  if (thread->in_pool) tell_of_pool(thread);
  Serving serving;
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

void
finite_gone_cb(void *data) {
  finite_self = nullptr;
  delete static_cast<Finite *>(data);
}

/* attaching */

#define CPU "libtorch_cpu.so"
#define PYTHON "libtorch_python.so"
#define ENGINE "_ZN5torch8autograd6Engine"
#define INPUT_GRAD_BUFFERS "_ZN5torch8autograd30get_current_input_grad_buffersE"
#define SAVED_VARIABLE "5torch8autograd13SavedVariable"
#define HOOK(library, symbol, hook)                                                                \
  { library, symbol, reinterpret_cast<void *>(hook), false }
#define ENGINE_HOOK(symbol, hook) HOOK(CPU, ENGINE symbol, hook), HOOK(PYTHON, ENGINE symbol, hook)
/* What is called for each node. It yields while the recording pauses. */
#define NODE_HOOK(library, symbol, hook)                                                           \
  { library, symbol, reinterpret_cast<void *>(hook), true }

/* A wait of a class of its own, which stands in its vtable. */
#define WAIT_HOOK(symbol, which)                                                                   \
  {                                                                                                \
    CPU, symbol, reinterpret_cast<void *>(WorkWaiter<which>::call), false, false,                  \
        &WorkWaiter<which>::original                                                               \
  }

/* The last one is of Python's. */
td_relocation relocations[] = {
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
    HOOK(PYTHON, "_ZN5torch8autograd4impl13gradient_edgeE", gradient_edge_hook),
    HOOK(CPU, "_ZN" SAVED_VARIABLE "10reset_dataE", reset_data_hook),
    HOOK(PYTHON, "_ZN" SAVED_VARIABLE "C1ERKN2at6TensorE", saved_variable_hook),
    NODE_HOOK(CPU, "_ZNK" SAVED_VARIABLE "6unpackE", unpack_hook),
    NODE_HOOK(PYTHON, "_ZNK" SAVED_VARIABLE "6unpackE", unpack_hook),
    NODE_HOOK(CPU, "pthread_mutex_lock", mutex_lock_hook),
    NODE_HOOK(CPU, "pthread_mutex_unlock", mutex_unlock_hook),
    HOOK(CPU, "_ZN4c10d4Work4waitE", WorkWaiter<0>::call),
    WAIT_HOOK("_ZN4c10d16ProcessGroupGloo8SendWork4waitE", 1),
    WAIT_HOOK("_ZN4c10d16ProcessGroupGloo8RecvWork4waitE", 2),
    GROUP_HOOKS HOOK(CPU, "pthread_cond_wait", cond_wait_hook),
    HOOK(CPU, "_ZNSt18condition_variable4waitE", condition_wait_hook),
    NODE_HOOK(PYTHON, "PyObject_CallObject", call_object_hook),
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
  td_cuts_begin();
  size_t n;
  python_call = reinterpret_cast<decltype(python_call)>(dlsym(RTLD_DEFAULT, "PyObject_CallObject"));
  if (!python_call) std::end(relocations)[-2] = {};
  pthread_key_create(&thread_key, thread_gone_cb);
  pthread_key_create(&finite_key, finite_gone_cb);
  relocated = td_relocations_point(relocations, &n);
#if TORCH_AT_LEAST(2, 14)
  watch_creation();
#endif
  watch_forward(true);
  watch_data();
  may_be_within = true;
  cut_watch->follow(true);
  return n > 0;
}

void
detach() {
  td_relocations_restore(relocated);
  relocated = nullptr;
  classes->restore();
  watch_forward(false);
  cut_watch->follow(false);
}

void
pause() {
  classes->pause();
  if (td_ids_n_alive(world->nodes) == 0) classes->rest();
  td_relocations_pause(relocated);
  watch_forward(false);
  cut_watch->follow(false);
}

void
resume() {
  world->period++;
  counters->forget();
  classes->resume();
  td_relocations_resume(relocated);
  watch_forward(true);
  cut_watch->follow(true);
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
  world->tasks.each([](Task &left) { left.graph_task = nullptr; }); /* of an earlier tape */
  counters->clear();
  world->n_nodes = 0;
  world->n_tasks = 0;
  say_known("queue_pop", TD_knowledge_observed);
  say_known("buffer_add", ADD_IS_EXPORTED ? TD_knowledge_observed : TD_knowledge_reconstructed);
  if (ADD_IS_EXPORTED)
    EMIT(setting, TIME_NOW, td_probe_intern("sums"), td_probe_intern("watched"));
  else
    say_known("lock_work", TD_knowledge_absent);
  for (const char *kind : {"kernel_begin", "kernel_end", "tensor_write"})
    say_known(kind, TD_knowledge_absent);
  if (collectives->wait)
    EMIT(setting, TIME_NOW, td_probe_intern("collectives"), td_probe_intern("watched"));
  for (const char *kind : {"collective_begin", "collective_end"})
    if (!collectives->wait) say_known(kind, TD_knowledge_absent);
  if (!groups_are_watched()) say_known("collective", TD_knowledge_absent);
  const char *counted = td_probe_from_inside ? "in part" : "whole";
  if (groups_are_watched())
    EMIT(setting, TIME_NOW, td_probe_intern("order of collectives"), td_probe_intern(counted));
  td_leaf_look_begin();
  td_own_tell();
  for (const char *kind : {"anomaly", "absorbed", "carried", "saved_numbers"})
    if (!td_numerics_anomalies) say_known(kind, TD_knowledge_absent);
  if (!td_numerics_statistics) say_known("tensor_stats", TD_knowledge_absent);
  ring_self = nullptr;
}

uint32_t
find_leaf(const void *tensor) {
  const auto *impl = static_cast<const at::TensorImpl *>(tensor);
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta_.get());
  NodePtr node = meta ? meta->grad_accumulator_.lock() : nullptr;
  return node ? td_ids_find(world->nodes, node.get()) : TD_NONE;
}

/* Since 2.14 each node enters the tape when it is made. */
uint32_t
find_unreached(const void *tensor, uint32_t *stack) {
#if TORCH_AT_LEAST(2, 14)
  return 0;
#else
  const auto *impl = static_cast<const at::TensorImpl *>(tensor);
  const auto *meta = static_cast<const AutogradMeta *>(impl->autograd_meta_.get());
  const Node *node = meta ? meta->grad_fn_.get() : nullptr;
  bool is_end = node && meta->grad_fn_.use_count() == 1; /* no other node leads there */
  if (!is_end || td_ids_find(world->nodes, node) != TD_NONE) return 0;
  *stack = td_stacks_find(node->thread_id_, node->sequence_nr_).stack;
  return td_probe_intern(without_namespace(node->name()).c_str());
#endif
}

bool
is_zero(const void *tensor) {
  td_gradient gradient;
  describe(const_cast<at::TensorImpl *>(static_cast<const at::TensorImpl *>(tensor)), &gradient);
  return td_leaf_look_is_zero(&gradient);
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

Finite *
finite_make() {
  finite_self = new Finite{};
  pthread_setspecific(finite_key, finite_self);
  return finite_self;
}

} // namespace tapedeck

bool td_clock_has_counter;

const td_observer *
td_observer_get(void) {
  td_clock_has_counter = *td_probe_has_counter;
  static const td_observer observer = {
      TORCH_VERSION,       tapedeck::attach,         tapedeck::detach,
      tapedeck::begin,     tapedeck::pause,          tapedeck::resume,
      tapedeck::find_leaf, tapedeck::find_unreached, tapedeck::is_zero};
  return &observer;
}
