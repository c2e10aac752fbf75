/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/callbacks.h"

#include "engine/torch/pass/task_guard.h"

td_status
td_final_callback_queue(td_final_callback *callback, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  if (!graph_task) {
    td_final_callback_free(callback);
    return td_error_set(error, TD_AUTOGRAD,
                        "Final callbacks can only be installed during backward pass.");
  }
  const td_node *node = td_node_now();
  TD_EMIT(final_callback_new, .graph_task = graph_task->handle.id,
          .node = node ? td_node_id(node) : TD_NONE, .owner = td_intern(callback->owner));
  td_final_callback_list_append(&graph_task->final_callbacks, callback);
  return TD_OK;
}

static td_status
run_one(td_graph_task *graph_task, td_final_callback *callback, td_error *error) {
  TD_EMIT(final_callback, .graph_task = graph_task->handle.id, .owner = td_intern(callback->owner));
  td_status status = callback->call(callback, error);
  TD_EMIT(final_callback_end, .graph_task = graph_task->handle.id);
  if (status)
    TD_EMIT(error, .node = TD_NONE, .graph_task = graph_task->handle.id,
            .text = td_intern(error->message ? error->message : td_status_message(status)));
  return status;
}

td_status
td_final_callbacks_run(td_graph_task *graph_task, td_error *error) {
  td_final_callback_list *list = &graph_task->final_callbacks;
  td_final_callback *callback = td_final_callback_list_next(list, NULL);
  if (!callback) return TD_OK;
  td_status status = TD_OK;
  td_task_guard guard;
  td_task_guard_enter(&guard, graph_task, NULL);
  for (; callback && !status; callback = td_final_callback_list_next(list, callback))
    status = run_one(graph_task, callback, error);
  td_task_guard_leave(&guard);
  return status;
}
