/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/graph_task.h"

#include "engine/base/alloc.h"
#include "engine/pass/callbacks.h"
#include "engine/pass/engine_thread.h"
#include "engine/pass/node_stream.h"
#include "engine/pass/variants/scheduler_2017.h"
#include "engine/tensor/launch.h"

static _Atomic uint32_t n_graph_tasks;

td_graph_task *
td_graph_task_new(const td_execute_options *options, uint32_t reentrant_depth,
                  td_ready_queue *cpu_ready_queue) {
  td_graph_task *graph_task = TD_NEW(td_graph_task);
  td_refcount_init(&graph_task->refs);
  td_refcount_init(&graph_task->weak_refs);
  graph_task->id = atomic_fetch_add_explicit(&n_graph_tasks, 1, memory_order_relaxed);
  graph_task->reentrant_depth = reentrant_depth;
  graph_task->keep_graph = options->keep_graph;
  graph_task->create_graph = options->create_graph;
  graph_task->accumulate_grad = options->accumulate_grad;
  graph_task->single_threaded = !td_multithreading();
  graph_task->selective = options->outputs != NULL;
  graph_task->cpu_ready_queue = td_ready_queue_ref(cpu_ready_queue);
  graph_task->n_captured = options->accumulate_grad ? 0 : options->n_outputs;
  graph_task->captured = TD_NEW_N(td_tensor *, graph_task->n_captured);
  td_lock_init(&graph_task->lock, TD_lock_kind_graph_task, graph_task->id);
  pthread_cond_init(&graph_task->done, NULL);
  pthread_mutex_init(&graph_task->callbacks_mutex, NULL);
  td_warnings_init(&graph_task->warnings);
  td_thread_locals_save(&graph_task->locals);
  return graph_task;
}

void
td_graph_task_unref(td_graph_task *graph_task) {
  if (!td_refcount_dec(&graph_task->refs)) return;
  td_scheduler_2017_free(graph_task->scheduler_2017);
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
  td_final_callbacks_free(graph_task);
  td_warnings_fini(&graph_task->warnings);
  pthread_mutex_destroy(&graph_task->callbacks_mutex);
  td_graph_task_weak_unref(graph_task);
}

td_graph_task *
td_graph_task_weak_ref(td_graph_task *graph_task) {
  td_refcount_inc(&graph_task->weak_refs);
  return graph_task;
}

void
td_graph_task_weak_unref(td_graph_task *graph_task) {
  if (graph_task && td_refcount_dec(&graph_task->weak_refs)) free(graph_task);
}

bool
td_graph_task_try_ref(td_graph_task *graph_task) {
  return td_refcount_try_inc(&graph_task->refs);
}

bool
td_graph_task_is_alive(td_graph_task *graph_task) {
  return graph_task && td_refcount_get(&graph_task->refs) > 0;
}

/* A stack of nodes to visit. */
typedef struct node_stack {
  td_node **nodes; /* (owned) */
  size_t n, capacity;
} node_stack;

static void
stack_push(node_stack *stack, td_node *node) {
  TD_GROW(stack->nodes, stack->n, stack->capacity);
  stack->nodes[stack->n++] = node;
}

void
td_graph_task_emit_dependencies(const td_graph_task *graph_task) {
  for (uint32_t i = 0; td_recording() && i < graph_task->nodes.n; i++) {
    const td_node_entry *entry = &graph_task->nodes.entries[i];
    td_node_announce(entry->node);
    if (entry->has_dependencies)
      TD_EMIT_BORROWED(dependency, .graph_task = graph_task->id, .node = td_node_id(entry->node),
                       .count = entry->dependencies);
  }
}

void
td_graph_task_compute_dependencies(td_graph_task *graph_task, td_node *root, uint64_t min_topo) {
  node_stack stack = {0};
  bool is_new;
  td_node_table_add(&graph_task->nodes, root, &is_new);
  stack_push(&stack, root);
  while (stack.n > 0) {
    td_node *node = stack.nodes[--stack.n];
    if (node->topological_nr < min_topo) continue;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
      td_node *next = node->next_edges[i].node;
      if (!next) continue;
      td_node_entry *entry = td_node_table_add(&graph_task->nodes, next, &is_new);
      entry->dependencies++;
      entry->has_dependencies = true;
      entry->in_graph = true;
      if (is_new) stack_push(&stack, next);
    }
  }
  free(stack.nodes);
  td_graph_task_emit_dependencies(graph_task);
  if (td_accelerators_now) td_pass_streams_begin(graph_task);
}

void
td_graph_task_count_push(td_graph_task *graph_task) {
  atomic_fetch_add_explicit(&graph_task->outstanding, 1, memory_order_relaxed);
}

void
td_graph_task_count_done(td_graph_task *graph_task) {
  uint64_t left = atomic_fetch_sub_explicit(&graph_task->outstanding, 1, memory_order_acq_rel) - 1;
  TD_EMIT_BORROWED(outstanding, .graph_task = graph_task->id, .value = (uint32_t)left);
}

bool
td_graph_task_is_completed(const td_graph_task *graph_task) {
  if (atomic_load_explicit(&graph_task->outstanding, memory_order_acquire) == 0) return true;
  return graph_task->exit_on_error &&
         atomic_load_explicit(&graph_task->has_error, memory_order_acquire);
}

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
  TD_EMIT(thread_state, .state = TD_thread_activity_post_processing, .graph_task = graph_task->id);
  if (graph_task->n_parked > 0)
    return td_error_set(&graph_task->error, TD_AUTOGRAD,
                        "could not compute gradients for some functions");
  if (!graph_task->streams) return td_final_callbacks_run(graph_task, &graph_task->error);
  td_pass_streams_join_locked(graph_task);
  td_status status = td_final_callbacks_run(graph_task, &graph_task->error);
  td_pass_streams_leave(graph_task);
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

bool
td_graph_task_is_done(td_graph_task *graph_task) {
  return atomic_load_explicit(&graph_task->future_done, memory_order_acquire);
}

bool
td_checkpoint_is_valid(void) {
  return td_thread_self.n_selective == 0;
}
