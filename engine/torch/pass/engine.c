/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/engine.h"

#include "engine/base/alloc.h"
#include "engine/control/gate.h"
#include "engine/events/core_waits.h"
#include "engine/events/cuts.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/graph_root.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/caller.h"
#include "engine/torch/pass/completion.h"
#include "engine/torch/pass/dependencies.h"
#include "engine/torch/pass/exec_info.h"
#include "engine/torch/pass/expose.h"
#include "engine/torch/pass/statistics.h"
#include "engine/torch/pass/validate.h"

static td_status (*engine_guard)(td_error *error);

void
td_engine_set_guard(td_status (*guard)(td_error *error)) {
  engine_guard = guard;
}

static uint64_t
least_topological_nr(const td_execute_options *options) {
  uint64_t least = options->n_outputs ? UINT64_MAX : 0;
  for (uint32_t i = 0; i < options->n_outputs; i++)
    least = TD_MIN(least, options->outputs[i].node->topological_nr);
  return least;
}

static void
emit_begin(const td_graph_task *graph_task, const td_node *root, uint32_t n_roots,
           const td_execute_options *options) {
  TD_EMIT(graph_task_begin, .graph_task = graph_task->handle.id,
          .depth = graph_task->handle.reentrant_depth, .owner = td_emit_thread_id(),
          .keep_graph = options->keep_graph, .create_graph = options->create_graph,
          .accumulate_grad = options->accumulate_grad, .root = td_node_id(root), .n_roots = n_roots,
          .n_outputs = options->n_outputs);
  if (!td_graph_task_now()) td_core_begin();
  if (td_graph_task_now())
    TD_EMIT_BORROWED(reentrant_enter, .graph_task = graph_task->handle.id,
                     .outer = td_graph_task_now_id(),
                     .node = td_node_now() ? td_node_id(td_node_now()) : TD_NONE,
                     .depth = graph_task->handle.reentrant_depth);
}

static void
emit_leave(const td_graph_task *graph_task) {
  const td_node *node = td_node_now();
  TD_EMIT_BORROWED(reentrant_leave, .graph_task = graph_task->handle.id,
                   .outer = td_graph_task_now_id(), .node = node ? td_node_id(node) : TD_NONE,
                   .depth = graph_task->handle.reentrant_depth);
  TD_EMIT_BORROWED(thread_state,
                   .state =
                       node ? TD_thread_activity_processing : TD_thread_activity_post_processing,
                   .graph_task = td_graph_task_now_id());
}

static void
emit_end(const td_graph_task *graph_task) {
  if (!td_graph_task_now()) td_core_look();
  TD_EMIT(graph_task_end, .graph_task = graph_task->handle.id,
          .status = graph_task->result ? TD_task_status_error : TD_task_status_ok);
  if (td_graph_task_now())
    emit_leave(graph_task);
  else
    td_cuts_end_pass();
}

/* One root is its own beginning, fed at its input; several hang under a GraphRoot that is pushed
 * with nothing. */
static td_node_task
root_task(td_graph_task *graph_task, td_node *root, const td_edge *roots, td_tensor **gradients,
          uint32_t n_roots, td_error *error) {
  td_node_task task = {.graph_task = td_graph_task_weak_ref(graph_task), .node = td_node_ref(root)};
  if (n_roots != 1) return task;
  td_accumulation mode;
  task.buffer = td_input_buffer_new(root->n_inputs);
  td_input_slot gradient = td_input_slot_new(td_tensor_ref(gradients[0]),
                                             td_anomaly_look(gradients[0]), TD_NO_CONTRIBUTOR);
  td_arrival arrival = {.consumer = root};
  td_arrival *streams =
      td_arrival_of(&arrival, gradients[0], td_stream_current(gradients[0]->device));
  td_input_buffer_add(task.buffer, roots[0].input_nr, gradient, streams, &mode, error);
  TD_EMIT_BORROWED(buffer_add, .node = td_node_id(root), .graph_task = graph_task->handle.id,
                   .input_nr = roots[0].input_nr, .from = TD_NONE, .mode = mode,
                   .bytes = (uint32_t)TD_MIN(td_tensor_n_bytes(gradients[0]), (size_t)UINT32_MAX),
                   .stream_case = arrival.stream_case, .stream = arrival.stream.number);
  return task;
}

/* A root gradient that is not finite was handed in, not made here, nor by the GraphRoot. */
static void
note_handed_in(td_node *root, const td_edge *roots, td_tensor *const *gradients, uint32_t n_roots) {
  for (uint32_t i = 0; i < n_roots; i++) {
    unsigned found = td_anomaly_look(gradients[i]);
    td_anomaly_note(
        0, found,
        TD_BIRTH(.place = TD_birthplace_input, .node = roots[i].node, .number = roots[i].input_nr));
    if (n_roots > 1) root->forward.found |= (uint8_t)found;
    td_statistics_emit(TD_stats_place_input, roots[i].node, roots[i].input_nr, gradients[i]);
  }
}

/* The warnings first: one that is turned into an error counts where the pass itself went well. */
static td_status
take_result(td_graph_task *graph_task, td_tensor **captured, td_error *error) {
  td_error raised = {0};
  td_status status =
      td_warnings_replay(&graph_task->warnings, graph_task->result != TD_OK, &raised);
  if (graph_task->result) {
    td_error_clear(&raised);
    td_error_move(error, &graph_task->error);
    return graph_task->result;
  }
  if (status) {
    td_error_move(error, &raised);
    return status;
  }
  for (uint32_t i = 0; i < graph_task->n_captured; i++)
    captured[i] = td_tensor_ref(graph_task->captured[i]);
  return TD_OK;
}

/* False if another scheduler cannot run this graph: the pass has failed. */
static bool
is_prepared(td_graph_task *graph_task) {
  td_error error = {0};
  if (!graph_task->scheduler) return true;
  td_status status = graph_task->scheduler->prepare(graph_task, &error);
  if (status) td_graph_task_fail(graph_task, status, &error);
  return status == TD_OK;
}

static td_status
run(td_graph_task *graph_task, const td_edge *roots, td_tensor **gradients, uint32_t n_roots,
    const td_execute_options *options, td_tensor **captured, td_error *error) {
  td_node *root =
      n_roots == 1 ? td_node_ref(roots[0].node) : td_graph_root_new(roots, gradients, n_roots);
  uint64_t min_topo = least_topological_nr(options);
  graph_task->roots = roots;
  graph_task->n_roots = n_roots;
  td_node_announce(root);
  emit_begin(graph_task, root, n_roots, options);
  TD_GATE_POLL(TD_EVENT_graph_task_begin, td_node_id(root), graph_task->handle.id,
               td_node_name(root));
  td_graph_task_compute_dependencies(graph_task, root, min_topo);
  if (options->outputs)
    td_graph_task_init_to_execute(graph_task, root, options->outputs, options->n_outputs, min_topo);
  note_handed_in(root, roots, gradients, n_roots);
  if (is_prepared(graph_task))
    td_caller_execute(graph_task, root_task(graph_task, root, roots, gradients, n_roots, error));
  if (graph_task->streams) td_pass_streams_end(graph_task->streams);
  emit_end(graph_task);
  TD_GATE_POLL(TD_EVENT_graph_task_end, TD_NONE, graph_task->handle.id, NULL);
  td_status status = take_result(graph_task, captured, error);
  td_node_unref(root);
  return status;
}

/* A pass of the engine belongs to its thread's queue; under another scheduler it has its own. */
static td_ready_queue *
queue_of_its_own(const td_scheduler *scheduler) {
  td_ready_queue *queue = td_ready_queue_new_ordered(TD_CPU, scheduler->order);
  td_ready_queue_announce(queue, td_emit_thread_id());
  return queue;
}

static td_status
enter_and_run(const td_edge *roots, td_tensor **gradients, uint32_t n_roots,
              const td_execute_options *options, td_tensor **captured, td_error *error) {
  const td_scheduler *scheduler = td_scheduler_now;
  td_ready_queue *queue, *own = NULL;
  uint32_t depth;
  td_status status = td_exposures_refuse_pass(error);
  if (!status) status = td_caller_enter(&queue, &depth, error);
  if (!status && scheduler) status = scheduler->enter(options, n_roots, error);
  if (status) return status;
  if (scheduler) queue = own = queue_of_its_own(scheduler);
  td_graph_task *graph_task = td_graph_task_new(options, depth, queue);
  graph_task->scheduler = scheduler;
  status = run(graph_task, roots, gradients, n_roots, options, captured, error);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(own);
  if (scheduler) scheduler->leave();
  return status;
}

td_status
td_engine_execute(const td_edge *roots, td_tensor *const *root_gradients, uint32_t n_roots,
                  const td_execute_options *options, td_tensor **captured, td_error *error) {
  if (!options->accumulate_grad && options->n_outputs == 0)
    return td_error_set(error, TD_INVALID, "grad requires non-empty inputs.");
  td_status status = engine_guard ? engine_guard(error) : TD_OK;
  if (status) return status;
  td_tensor **gradients = TD_NEW_N(td_tensor *, n_roots);
  for (uint32_t i = 0; i < n_roots; i++)
    gradients[i] = td_tensor_ref(root_gradients[i]);
  status = td_validate_outputs(NULL, roots, n_roots, gradients, n_roots, error);
  if (!status) status = enter_and_run(roots, gradients, n_roots, options, captured, error);
  for (uint32_t i = 0; i < n_roots; i++)
    td_tensor_unref(gradients[i]);
  free(gradients);
  return status;
}
