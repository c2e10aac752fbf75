/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Between hooks.py and calls.c: C functions with Python's face. The engine's entry is one of
 * them too, so that no frame of Tapedeck's stands in the tracebacks of the program's errors. */
#include "engine/probe/hooks.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/events/emit.h"
#include "engine/probe/calls.h"
#include "engine/probe/creation.h"
#include "engine/probe/hooks_gradients.h"
#include "engine/probe/leaves.h"
#include "engine/probe/numerics.h"
#include "engine/probe/python.h"
#include "engine/probe/stacks.h"

#include <stdio.h>
#include <string.h>

static const td_python *python;
static uint64_t (*next_sequence_nr)(void);
static const td_hooks_listener *listener;
static void *names; /* (owned) of hooks.py */

static void *
none(void) {
  return python->Py_BuildValue("");
}

static void *
from_id(uint32_t id) {
  return python->PyLong_FromUnsignedLongLong(id);
}

static bool
is_looking(void) {
  return td_numerics_anomalies || td_numerics_statistics;
}

/* The numbers of `n` edges, two for each. */
static td_seen_edge *
read_edges(void *const *arguments, size_t n) {
  td_seen_edge *edges = TD_NEW_N(td_seen_edge, n + 1);
  for (size_t i = 0; i < n; i++)
    edges[i] = (td_seen_edge){(uint32_t)td_python_number(arguments[2 * i]),
                              (uint32_t)td_python_number(arguments[2 * i + 1])};
  return edges;
}

/* Of gradients, two numbers for each: bytes (negative: undefined) and device. */
static td_seen_gradient *
read_gradients(void *const *arguments, size_t n) {
  td_seen_gradient *gradients = TD_NEW_N(td_seen_gradient, n + 1);
  for (size_t i = 0; i < n; i++) {
    long long n_bytes = td_python_number(arguments[2 * i]);
    gradients[i] = (td_seen_gradient){.defined = n_bytes >= 0,
                                      .device = (int32_t)td_python_number(arguments[2 * i + 1]),
                                      .n_bytes = n_bytes > 0 ? (uint64_t)n_bytes : 0};
  }
  return gradients;
}

static td_forward
find_forward(uint64_t sequence_nr, long long thread) {
  if (sequence_nr >= TD_SEQUENCE_NR_UNKNOWN) return (td_forward){0};
  return thread < 0 ? td_stacks_find_any(sequence_nr)
                    : td_stacks_find((uint64_t)thread, sequence_nr);
}

/* The thread that made a node, by the node's metadata. -1: unknown. */
static long long
find_maker(void *metadata) {
  void *thread = td_python_item(metadata, TD_CREATION_THREAD);
  return thread ? td_python_number(thread) : -1;
}

/* tell_node(name, sequence_nr, metadata, device, n_inputs, leaf, edges...): `metadata` is the
 * node's dict; `leaf` is the address of an AccumulateGrad's tensor, else 0. */
static void *
tell_node(void *self, void *const *arguments, td_python_size n) {
  const char *name = n >= 6 ? td_python_text(python, arguments[0]) : NULL;
  if (!name) return from_id(TD_NONE);
  uint64_t sequence_nr = td_python_bits(arguments[1]);
  const void *leaf = (const void *)(uintptr_t)td_python_number(arguments[5]);
  td_seen_edge *edges = read_edges(arguments + 6, (size_t)(n - 6) / 2);
  td_forward forward = find_forward(sequence_nr, find_maker(arguments[2]));
  uint32_t node =
      td_calls_add_node(&(td_seen_node){.name = name,
                                        .sequence_nr = sequence_nr,
                                        .device = (int32_t)td_python_number(arguments[3]),
                                        .n_inputs = (uint32_t)td_python_number(arguments[4]),
                                        .n_edges = (uint32_t)(n - 6) / 2,
                                        .edges = edges,
                                        .stack = forward.stack});
  free(edges);
  td_stacks_emit(node, forward);
  uint32_t label = leaf ? td_stacks_label(leaf) : 0;
  if (label) TD_EMIT(node_label, .node = node, .label = label);
  if (leaf && !label) td_leaves_want(node, leaf);
  return from_id(node);
}

/* tell_input(node, input_nr, shape, dtype, device, n_bytes) */
static void *
tell_input(void *self, void *const *arguments, td_python_size n) {
  if (n != 6) return none();
  const char *shape = td_python_text(python, arguments[2]);
  const char *dtype = td_python_text(python, arguments[3]);
  if (!shape || !dtype) return none();
  long long n_bytes = td_python_number(arguments[5]);
  TD_EMIT(input_metadata, .node = (uint32_t)td_python_number(arguments[0]),
          .input_nr = (uint32_t)td_python_number(arguments[1]), .shape = td_intern(shape),
          .dtype = td_intern(dtype), .device = (int32_t)td_python_number(arguments[4]),
          .bytes = (uint32_t)TD_MIN(n_bytes, (long long)UINT32_MAX));
  return none();
}

/* recording(): the number of the recording, begun if it is wanted; 0 for none. */
static void *
recording(void *self, void *const *arguments, td_python_size n) {
  listener->begin();
  return from_id(td_probe_is_on());
}

#define NODE_END "tapedeck node"

/* A node on the tape of a recording, until the node's metadata dies. */
typedef struct node_end {
  uint32_t recording, node;
} node_end;

static void
freed_cb(void *capsule) {
  node_end *end = python->PyCapsule_GetPointer(capsule, NODE_END);
  if (end && end->recording == td_probe_session) td_calls_free_node(end->node);
  free(end);
}

/* end_of(recording, node): an object that tells of the node's end when it dies. No instruction of
 * Python runs then, and so no handler of a signal whose exception would be lost. */
static void *
end_of(void *self, void *const *arguments, td_python_size n) {
  if (n != 2) return none();
  node_end *end = TD_NEW(node_end);
  *end = (node_end){(uint32_t)td_python_number(arguments[0]),
                    (uint32_t)td_python_number(arguments[1])};
  return python->PyCapsule_New(end, NODE_END, freed_cb);
}

static uint32_t *
read_numbers(void *const *arguments, size_t n) {
  uint32_t *numbers = TD_NEW_N(uint32_t, n + 1);
  for (size_t i = 0; i < n; i++)
    numbers[i] = (uint32_t)td_python_number(arguments[i]);
  return numbers;
}

/* tell_pass(keep_graph, create_graph, accumulate_grad, n_roots, n_outputs, roots..., gradients...,
 * outputs..., nodes...) */
static void *
tell_pass(void *self, void *const *arguments, td_python_size n) {
  size_t n_roots = n >= 5 ? (size_t)td_python_number(arguments[3]) : 0;
  size_t n_outputs = n >= 5 ? (size_t)td_python_number(arguments[4]) : 0;
  size_t n_fixed = 5 + 4 * n_roots + 2 * n_outputs;
  if (n_roots == 0 || (size_t)n < n_fixed) return none();
  td_seen_edge *roots = read_edges(arguments + 5, n_roots);
  td_seen_gradient *gradients = read_gradients(arguments + 5 + 2 * n_roots, n_roots);
  td_seen_edge *outputs = read_edges(arguments + 5 + 4 * n_roots, n_outputs);
  uint32_t *nodes = read_numbers(arguments + n_fixed, (size_t)n - n_fixed);
  td_seen_call seen = {.keep_graph = td_python_number(arguments[0]) != 0,
                       .create_graph = td_python_number(arguments[1]) != 0,
                       .accumulate_grad = td_python_number(arguments[2]) != 0,
                       .n_roots = (uint32_t)n_roots,
                       .n_outputs = (uint32_t)n_outputs,
                       .roots = roots,
                       .outputs = outputs,
                       .gradients = gradients,
                       .nodes = nodes,
                       .n_nodes = (size_t)n - n_fixed,
                       .next_sequence_nr = next_sequence_nr ? next_sequence_nr() : 0};
  td_leaves_name();
  uint32_t call = td_calls_begin(&seen);
  free(roots);
  free(gradients);
  free(outputs);
  free(nodes);
  return from_id(call);
}

/* tell_pass_over(pass, words or None) */
static void *
tell_pass_over(void *self, void *const *arguments, td_python_size n) {
  if (n != 2) return none();
  bool failed = arguments[1] != python->_Py_NoneStruct;
  const char *words = failed ? td_python_text(python, arguments[1]) : NULL;
  if (failed && !words) words = "an error whose text is no Unicode";
  td_numerics_end_task(td_calls_end((uint32_t)td_python_number(arguments[0]), words));
  return none();
}

/* tell_begin(node, engine's number of the pass, name, is_leaf, memories...). The GIL is let go
 * while the thread waits at the gate. */
static void *
tell_begin(void *self, void *const *arguments, td_python_size n) {
  if (n < 4) return none();
  uint32_t node = (uint32_t)td_python_number(arguments[0]);
  bool is_root;
  uint32_t graph_task = td_calls_begin_node(node, td_python_number(arguments[1]), &is_root);
  td_hooks_evaluation begun = {node, graph_task, is_root, td_python_number(arguments[3]) != 0};
  if (is_looking()) td_hooks_gradients_begin(python, &begun, arguments + 4, (size_t)n - 4);
  if (td_gate_is_armed()) {
    const char *name = td_python_text(python, arguments[2]);
    void *state = python->PyEval_SaveThread();
    TD_GATE_POLL(TD_EVENT_node_begin, node, graph_task, name);
    python->PyEval_RestoreThread(state);
  }
  return none();
}

/* tell_end(node, gradients...) */
static void *
tell_end(void *self, void *const *arguments, td_python_size n) {
  if (n < 1) return none();
  size_t n_gradients = (size_t)(n - 1) / 2;
  td_seen_gradient *gradients = read_gradients(arguments + 1, n_gradients);
  td_calls_end_node((uint32_t)td_python_number(arguments[0]), gradients, (uint32_t)n_gradients);
  free(gradients);
  return none();
}

/* tell_outputs(node, is_leaf, n_edges, edges..., memories...), after tell_end */
static void *
tell_outputs(void *self, void *const *arguments, td_python_size n) {
  if (n < 3) return none();
  td_hooks_evaluation ended = {.node = (uint32_t)td_python_number(arguments[0]),
                               .is_leaf = td_python_number(arguments[1]) != 0};
  td_hooks_gradients_end(python, &ended, arguments + 2, (size_t)n - 2);
  return none();
}

/* looking(): whether gradients are read. */
static void *
looking(void *self, void *const *arguments, td_python_size n) {
  return from_id(is_looking());
}

/* A hook behind a node, called with a tuple of outputs and inputs. PyTorch gives the same tuple to
 * the hooks behind it. If after_node() says so, they get no inputs. */
static void *
call_post_hook(void *after_node, void *arguments) {
  void *is_late = td_python_call(after_node, arguments, NULL);
  if (!is_late) return NULL;
  if (td_python_is_true(is_late)) td_python_empty(arguments, 1);
  python->Py_DecRef(is_late);
  return none();
}

static td_python_method post_hook_method = {
    "hook", (td_python_function)(void (*)(void))call_post_hook, TD_PYTHON_VARARGS, NULL};

/* post_hook(after_node): the hook. */
static void *
post_hook(void *self, void *const *arguments, td_python_size n) {
  return n == 1 ? python->PyCFunction_NewEx(&post_hook_method, arguments[0], NULL) : none();
}

/* complain(words): recording is worse than promised, the program unharmed. */
static void *
complain(void *self, void *const *arguments, td_python_size n) {
  const char *words = n == 1 ? td_python_text(python, arguments[0]) : NULL;
  if (!words) return none();
  fprintf(stderr, "tapedeck: %s\n", words);
  char *text = td_format("hooks: %s", words);
  TD_EMIT(mark, .text = td_intern(text));
  free(text);
  return none();
}

static void
drop(void *object) {
  if (object) python->Py_DecRef(object);
}

/* Raises what a handler of the program's raised during a pass, instead of what the pass gave. */
static void *
raise_late(void *late, void *result, td_python_pending error) {
  drop(result);
  drop(error.type);
  drop(error.value);
  drop(error.traceback);
  if (late) td_python_raise(late);
  return NULL;
}

/* The engine's entry, with hooks.py's before() and after() around it. These raise only what the
 * program's own handlers of signals raise, as the entry would a moment later. */
static void *
run_hooked(void *arguments, void *keywords) {
  void *before = td_python_item(names, "before");
  void *after = td_python_item(names, "after");
  void *original = td_python_item(names, "original");
  void *pass = td_python_call(before, arguments, keywords);
  if (!pass && td_python_was_too_deep()) return td_python_call(original, arguments, keywords);
  if (!pass) return NULL;
  void *result = td_python_call(original, arguments, keywords);
  td_python_pending error = td_python_catch();
  void *late = td_python_call_with(after, pass, error.value ? error.value : pass);
  bool is_over = late ? late == python->_Py_NoneStruct : td_python_was_too_deep();
  if (is_over)
    td_python_give_back(error);
  else
    result = raise_late(late, result, error);
  drop(late);
  drop(pass);
  return result;
}

/* This thread's calls of the engine, and whether they are recorded. A thread that the engine has
 * made is in a pass, too. */
static _Thread_local unsigned n_calls;
static _Thread_local bool is_recorded;

static bool
is_engine_thread(void) {
  void *id = td_python_c_function(td_python_item(names, "engine_task"));
  bool is_in_pass = id && td_python_number(id) >= 0;
  if (id) python->Py_DecRef(id);
  return is_in_pass;
}

static void *
run_backward(void *self, void *arguments, void *keywords) {
  bool is_first = n_calls == 0, is_outermost = is_first && !is_engine_thread();
  td_pass_ticket ticket = {0};
  if (is_outermost) ticket = listener->pass_begin();
  if (is_first) is_recorded = is_outermost ? ticket.recorded : td_probe_is_on() != 0;
  n_calls++;
  void *result = is_recorded
                     ? run_hooked(arguments, keywords)
                     : td_python_call(td_python_item(names, "original"), arguments, keywords);
  n_calls--;
  if (is_outermost) listener->pass_end(ticket);
  return result;
}

static td_python_method methods[] = {
    {"tell_node", tell_node, TD_PYTHON_FASTCALL, NULL},
    {"tell_input", tell_input, TD_PYTHON_FASTCALL, NULL},
    {"end_of", end_of, TD_PYTHON_FASTCALL, NULL},
    {"tell_pass", tell_pass, TD_PYTHON_FASTCALL, NULL},
    {"tell_pass_over", tell_pass_over, TD_PYTHON_FASTCALL, NULL},
    {"tell_begin", tell_begin, TD_PYTHON_FASTCALL, NULL},
    {"tell_end", tell_end, TD_PYTHON_FASTCALL, NULL},
    {"tell_outputs", tell_outputs, TD_PYTHON_FASTCALL, NULL},
    {"post_hook", post_hook, TD_PYTHON_FASTCALL, NULL},
    {"looking", looking, TD_PYTHON_FASTCALL, NULL},
    {"recording", recording, TD_PYTHON_FASTCALL, NULL},
    {"complain", complain, TD_PYTHON_FASTCALL, NULL},
    {"run_backward", (td_python_function)(void (*)(void))run_backward, TD_PYTHON_KEYWORDS, NULL},
    {0},
};

/* What a tape of this level holds, and how it is known; what is not listed is of the session. */
static const struct {
  const char *kind;
  td_knowledge how;
} known[] = {
    {"node_new", TD_knowledge_observed},
    {"edge_new", TD_knowledge_observed},
    {"node_free", TD_knowledge_observed},
    {"input_metadata", TD_knowledge_observed},
    {"graph_task_begin", TD_knowledge_observed},
    {"graph_task_end", TD_knowledge_observed},
    {"node_begin", TD_knowledge_observed},
    {"node_end", TD_knowledge_observed},
    {"reentrant_enter", TD_knowledge_observed},
    {"reentrant_leave", TD_knowledge_observed},
    {"error", TD_knowledge_observed},
    {"exec_info", TD_knowledge_reconstructed},
    {"dependency", TD_knowledge_reconstructed},
    {"dependency_dec", TD_knowledge_reconstructed},
    {"outstanding", TD_knowledge_reconstructed},
    {"buffer_new", TD_knowledge_reconstructed},
    {"buffer_add", TD_knowledge_reconstructed},
    {"buffer_expose", TD_knowledge_absent},
    {"buffer_ready", TD_knowledge_reconstructed},
    {"buffer_park", TD_knowledge_reconstructed},
    {"capture", TD_knowledge_reconstructed},
    {"node_skip", TD_knowledge_reconstructed},
    {"pool_push", TD_knowledge_reconstructed},
    {"pool_thread_new", TD_knowledge_reconstructed},
    {"final_callback", TD_knowledge_absent},
    {"final_callback_new", TD_knowledge_absent},
    {"hook_begin", TD_knowledge_absent},
    {"hook_end", TD_knowledge_absent},
    {"saved_tensor", TD_knowledge_absent},
    {"tensor_write", TD_knowledge_absent},
    {"release", TD_knowledge_absent},
    {"version_conflict", TD_knowledge_absent},
    {"accumulate", TD_knowledge_absent},
    {"thread_state", TD_knowledge_absent},
    {"lock_wait", TD_knowledge_absent},
    {"lock_acquired", TD_knowledge_absent},
    {"lock_released", TD_knowledge_absent},
    {"lock_held", TD_knowledge_absent},
    {"lock_work", TD_knowledge_absent},
    {"core_wait", TD_knowledge_absent},
    {"queue_shutdown", TD_knowledge_absent},
};

static const char *const queue_kinds[] = {"queue_new", "queue_push", "queue_pop", "queue_wake"};

static bool
read_flag(const char *name) {
  return td_python_is_true(td_python_item(names, name));
}

static bool queues_known;

static void
say_known(const char *kind, bool is_known) {
  TD_EMIT(known, .kind = td_intern_static(kind),
          .how = is_known ? TD_knowledge_observed : TD_knowledge_absent);
}

/* A recording begins. */
static void
begin(void) {
  td_numerics_hooks_unseen = true;
  say_known("anomaly", td_numerics_anomalies);
  say_known("carried", td_numerics_anomalies);
  say_known("tensor_stats", td_numerics_statistics);
  td_calls_start();
  for (size_t i = 0; i < TD_N_ELEMENTS(known); i++)
    TD_EMIT(known, .kind = td_intern_static(known[i].kind), .how = known[i].how);
  for (size_t i = 0; i < TD_N_ELEMENTS(queue_kinds); i++)
    TD_EMIT(known, .kind = td_intern_static(queue_kinds[i]),
            .how = queues_known ? TD_knowledge_reconstructed : TD_knowledge_absent);
}

static bool
attach(void) {
  return true;
}

static void
detach(void) {
  td_python_hold hold;
  if (!names || !td_python_enter(python, &hold)) return;
  void *stop = td_python_item(names, "stop"), *done = td_python_call_with(stop, NULL, NULL);
  if (!done) td_python_raise_later(python);
  if (done) python->Py_DecRef(done);
  td_python_leave(python, hold);
}

static td_observer observer = {"?", attach, detach, begin};

const td_observer *
td_hooks_observer(void) {
  return &observer;
}

static void
read_what_it_found(void) {
  queues_known = read_flag("queues_known");
  const char *version = td_python_text(python, td_python_item(names, "version"));
  observer.version = td_dup_string(version ? version : "?");
}

char *
td_hooks_start(uint64_t (*sequence_nr)(void), const td_hooks_listener *recording) {
  char *trouble = NULL;
  python = td_python_find();
  if (!python) return td_dup_string("there is no Python in this program to hook");
  next_sequence_nr = sequence_nr;
  listener = recording;
  int state = python->PyGILState_Ensure();
  names = td_python_run(python, td_python_hooks, "<tapedeck hooks.py>", methods, &trouble);
  if (names) read_what_it_found();
  python->PyGILState_Release(state);
  return trouble;
}
