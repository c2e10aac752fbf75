/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/graph_task.h"

#include "engine/base/alloc.h"

td_graph_task *
td_graph_task_new(const td_execute_options *options, uint32_t reentrant_depth,
                  td_ready_queue *cpu_ready_queue) {
  td_graph_task *graph_task = TD_NEW(td_graph_task);
  td_graph_task_handle_init(&graph_task->handle, reentrant_depth);
  graph_task->keep_graph = options->keep_graph;
  graph_task->create_graph = options->create_graph;
  graph_task->accumulate_grad = options->accumulate_grad;
  graph_task->single_threaded = !td_multithreading();
  graph_task->selective = options->outputs != NULL;
  graph_task->cpu_ready_queue = td_ready_queue_ref(cpu_ready_queue);
  graph_task->n_captured = options->accumulate_grad ? 0 : options->n_outputs;
  graph_task->captured = TD_NEW_N(td_tensor *, graph_task->n_captured);
  td_lock_init(&graph_task->lock, TD_lock_kind_graph_task, graph_task->handle.id);
  pthread_cond_init(&graph_task->done, NULL);
  td_final_callback_list_init(&graph_task->final_callbacks);
  td_warnings_init(&graph_task->warnings);
  td_thread_locals_save(&graph_task->locals);
  return graph_task;
}

void
td_graph_task_unref(td_graph_task *graph_task) {
  if (!td_refcount_dec(&graph_task->handle.refs)) return;
  if (graph_task->scheduler) graph_task->scheduler->free(graph_task->scheduler_data);
  td_node_table_fini(&graph_task->nodes);
  for (uint32_t i = 0; i < graph_task->n_captured; i++)
    td_tensor_unref(graph_task->captured[i]);
  free(graph_task->captured);
  td_error_clear(&graph_task->error);
  td_ready_queue_unref(graph_task->cpu_ready_queue);
  td_lock_fini(&graph_task->lock);
  pthread_cond_destroy(&graph_task->done);
  td_thread_locals_fini(&graph_task->locals);
  td_pass_streams_free(graph_task->streams);
  td_final_callback_list_fini(&graph_task->final_callbacks);
  td_warnings_fini(&graph_task->warnings);
  td_graph_task_handle_unref(&graph_task->handle);
}

void
td_graph_task_count_done(td_graph_task *graph_task) {
  uint64_t left =
      atomic_fetch_sub_explicit(&graph_task->handle.outstanding, 1, memory_order_acq_rel) - 1;
  TD_EMIT_BORROWED(outstanding, .graph_task = graph_task->handle.id, .value = (uint32_t)left);
}

bool
td_graph_task_is_completed(const td_graph_task *graph_task) {
  return atomic_load_explicit(&graph_task->handle.outstanding, memory_order_acquire) == 0;
}

bool
td_graph_task_is_done(td_graph_task *graph_task) {
  return atomic_load_explicit(&graph_task->future_done, memory_order_acquire);
}
