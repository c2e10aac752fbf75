/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/callbacks.h"

#include "engine/base/alloc.h"
#include "engine/pass/engine_thread.h"

static void
callback_free(td_final_callback *callback) {
  free(callback->owner);
  callback->free(callback);
}

static td_final_callback **
last_link_locked(td_graph_task *graph_task) {
  td_final_callback **link = &graph_task->final_callbacks;
  while (*link)
    link = &(*link)->next;
  return link;
}

td_status
td_final_callback_queue(td_final_callback *callback, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  if (!graph_task) {
    callback_free(callback);
    return td_error_set(error, TD_AUTOGRAD,
                        "Final callbacks can only be installed during backward pass.");
  }
  callback->next = NULL;
  pthread_mutex_lock(&graph_task->callbacks_mutex);
  *last_link_locked(graph_task) = callback;
  pthread_mutex_unlock(&graph_task->callbacks_mutex);
  return TD_OK;
}

static td_final_callback *
next_of(td_graph_task *graph_task, td_final_callback *const *link) {
  pthread_mutex_lock(&graph_task->callbacks_mutex);
  td_final_callback *callback = *link;
  pthread_mutex_unlock(&graph_task->callbacks_mutex);
  return callback;
}

static td_status
run_one(td_graph_task *graph_task, td_final_callback *callback, td_error *error) {
  TD_EMIT(final_callback, .graph_task = graph_task->id, .owner = td_intern(callback->owner));
  td_status status = callback->call(callback, error);
  TD_EMIT(final_callback_end, .graph_task = graph_task->id);
  if (status)
    TD_EMIT(error, .node = TD_NONE, .graph_task = graph_task->id,
            .text = td_intern(error->message ? error->message : td_status_message(status)));
  return status;
}

td_status
td_final_callbacks_run(td_graph_task *graph_task, td_error *error) {
  td_status status = TD_OK;
  td_final_callback *callback = next_of(graph_task, &graph_task->final_callbacks);
  if (!callback) return TD_OK;
  td_task_guard guard;
  td_task_guard_enter(&guard, graph_task, NULL);
  for (; callback && !status; callback = next_of(graph_task, &callback->next))
    status = run_one(graph_task, callback, error);
  td_task_guard_leave(&guard);
  return status;
}

void
td_final_callbacks_free(td_graph_task *graph_task) {
  while (graph_task->final_callbacks) {
    td_final_callback *callback = graph_task->final_callbacks;
    graph_task->final_callbacks = callback->next;
    callback_free(callback);
  }
}
