/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/completion.h"

#include "engine/torch/pass/callbacks.h"
#include "engine/torch/pass/pass_streams.h"

static void
settle_locked(td_graph_task *graph_task, td_status status) {
  graph_task->result = status;
  atomic_store_explicit(&graph_task->future_done, true, memory_order_release);
  pthread_cond_broadcast(&graph_task->done);
}

static void
wait_locked(td_graph_task *graph_task) {
  while (!td_graph_task_is_done(graph_task))
    td_lock_sleep(&graph_task->lock, &graph_task->done);
}

void
td_graph_task_wait(td_graph_task *graph_task) {
  td_lock_acquire(&graph_task->lock);
  wait_locked(graph_task);
  td_lock_release(&graph_task->lock);
}

static td_status
post_process_locked(td_graph_task *graph_task) {
  TD_EMIT(thread_state, .state = TD_thread_activity_post_processing,
          .graph_task = graph_task->handle.id);
  if (graph_task->n_parked > 0)
    return td_error_set(&graph_task->error, TD_AUTOGRAD,
                        "could not compute gradients for some functions");
  if (!graph_task->streams) return td_final_callbacks_run(graph_task, &graph_task->error);
  td_pass_streams_join_locked(graph_task->streams);
  td_status status = td_final_callbacks_run(graph_task, &graph_task->error);
  td_pass_streams_leave(graph_task->streams);
  return status;
}

void
td_graph_task_complete(td_graph_task *graph_task) {
  td_lock_acquire(&graph_task->lock);
  if (atomic_exchange_explicit(&graph_task->future_claimed, true, memory_order_acq_rel))
    wait_locked(graph_task);
  else
    settle_locked(graph_task, post_process_locked(graph_task));
  td_lock_release(&graph_task->lock);
}

void
td_graph_task_fail(td_graph_task *graph_task, td_status status, td_error *error) {
  atomic_store_explicit(&graph_task->has_error, true, memory_order_release);
  td_lock_acquire(&graph_task->lock);
  if (!atomic_exchange_explicit(&graph_task->future_claimed, true, memory_order_acq_rel)) {
    td_error_move(&graph_task->error, error);
    settle_locked(graph_task, status);
  } else {
    td_error_clear(error);
  }
  td_lock_release(&graph_task->lock);
}
