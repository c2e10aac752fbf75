/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/graph_task_handle.h"

#include <stdlib.h>

static _Atomic uint32_t n_graph_tasks;

void
td_graph_task_handle_init(td_graph_task_handle *handle, uint32_t reentrant_depth) {
  td_refcount_init(&handle->refs);
  td_refcount_init(&handle->weak_refs);
  handle->id = atomic_fetch_add_explicit(&n_graph_tasks, 1, memory_order_relaxed);
  handle->reentrant_depth = reentrant_depth;
}

bool
td_graph_task_handle_any_made(void) {
  return atomic_load_explicit(&n_graph_tasks, memory_order_relaxed) != 0;
}

td_graph_task_handle *
td_graph_task_handle_ref(td_graph_task_handle *handle) {
  td_refcount_inc(&handle->weak_refs);
  return handle;
}

void
td_graph_task_handle_unref(td_graph_task_handle *handle) {
  if (handle && td_refcount_dec(&handle->weak_refs)) free(handle);
}

bool
td_graph_task_handle_try_ref(td_graph_task_handle *handle) {
  return td_refcount_try_inc(&handle->refs);
}

bool
td_graph_task_handle_is_alive(const td_graph_task_handle *handle) {
  return handle && td_refcount_get(&handle->refs) > 0;
}

void
td_graph_task_handle_count_push(td_graph_task_handle *handle) {
  atomic_fetch_add_explicit(&handle->outstanding, 1, memory_order_relaxed);
}
