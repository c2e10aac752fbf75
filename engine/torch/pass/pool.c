/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/pool.h"

#include "engine/base/alloc.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/fork.h"
#include "engine/torch/pass/worker.h"

#include <string.h>

static struct {
  pthread_mutex_t mutex; /* guards what follows */
  pthread_cond_t work;
  td_graph_task_handle **queued; /* (owned weak references) first in, first out */
  size_t n_queued, capacity;
  size_t n_idle;
  uint32_t n_threads;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static td_graph_task_handle *
take(void) {
  pthread_mutex_lock(&pool.mutex);
  pool.n_idle++;
  while (pool.n_queued == 0)
    pthread_cond_wait(&pool.work, &pool.mutex);
  pool.n_idle--;
  td_graph_task_handle *graph_task = pool.queued[0];
  pool.n_queued--;
  for (size_t i = 0; i < pool.n_queued; i++)
    pool.queued[i] = pool.queued[i + 1];
  pthread_mutex_unlock(&pool.mutex);
  return graph_task;
}

/* Works as the owner's thread would. */
static void
run_for_owner(td_graph_task *graph_task) {
  TD_EMIT(pool_pop, .graph_task = graph_task->handle.id);
  td_thread_self.device = graph_task->owner;
  td_thread_self.queue = td_ready_queue_ref(graph_task->cpu_ready_queue);
  td_thread_self.total_depth = graph_task->handle.reentrant_depth;
  td_worker_main(graph_task);
  td_ready_queue_unref(td_thread_self.queue);
  td_thread_self.queue = NULL;
}

static void *
pool_thread_main(void *unused) {
  pthread_setname_np(pthread_self(), "pt_autograd_pool");
  td_emit_name_thread("pt_autograd_pool", TD_CPU);
  TD_EMIT(pool_thread_new, .id = td_emit_thread_id());
  for (;;) {
    td_graph_task_handle *handle = take();
    if (td_graph_task_handle_try_ref(handle)) {
      run_for_owner(td_graph_task_of(handle));
      td_graph_task_unref(td_graph_task_of(handle));
    }
    td_graph_task_handle_unref(handle);
  }
  return NULL;
}

/* A busy thread may have taken the pass meanwhile. Returns false then. */
static bool
take_back(td_graph_task_handle *graph_task) {
  pthread_mutex_lock(&pool.mutex);
  size_t at = 0, n = pool.n_queued;
  while (at < n && pool.queued[at] != graph_task)
    at++;
  for (size_t i = at; i + 1 < n; i++)
    pool.queued[i] = pool.queued[i + 1];
  pool.n_queued -= at < n;
  pool.n_threads--;
  pthread_mutex_unlock(&pool.mutex);
  if (at < n) td_graph_task_handle_unref(graph_task);
  return at < n;
}

static td_status
start_thread(td_graph_task_handle *graph_task, td_error *error) {
  pthread_t thread;
  TD_EMIT(thread_state, .state = TD_thread_activity_spawn_thread, .graph_task = graph_task->id);
  td_fork_forbid();
  int failure = pthread_create(&thread, NULL, pool_thread_main, NULL);
  if (failure && take_back(graph_task))
    return td_error_set(error, TD_AUTOGRAD, "%s", strerror(failure));
  if (!failure) pthread_detach(thread);
  return TD_OK;
}

td_status
td_pool_submit(td_graph_task_handle *graph_task, td_error *error) {
  TD_EMIT(pool_push, .graph_task = graph_task->id);
  pthread_mutex_lock(&pool.mutex);
  bool wants_thread = pool.n_idle <= pool.n_queued;
  pool.n_threads += wants_thread;
  TD_GROW(pool.queued, pool.n_queued, pool.capacity);
  pool.queued[pool.n_queued++] = td_graph_task_handle_ref(graph_task);
  pthread_mutex_unlock(&pool.mutex);
  pthread_cond_signal(&pool.work);
  return wants_thread ? start_thread(graph_task, error) : TD_OK;
}

uint32_t
td_pool_size(void) {
  pthread_mutex_lock(&pool.mutex);
  uint32_t n = pool.n_threads;
  pthread_mutex_unlock(&pool.mutex);
  return n;
}
