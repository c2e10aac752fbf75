/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/device_threads.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/pass/device_queues.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/fork.h"
#include "engine/torch/pass/worker.h"

#include <math.h>
#include <string.h>

#define SHUTDOWN_WAIT_LIMIT_S 10.0

static struct {
  _Atomic bool is_started;  /* for good, also if there is no device */
  pthread_mutex_t starting; /* guards the change of is_started */
  pthread_mutex_t mutex;    /* guards n_running, is_stopped */
  pthread_cond_t changed;
  int n_running;
  bool is_stopped;
} threads = {.starting = PTHREAD_MUTEX_INITIALIZER,
             .mutex = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};

static void
count_running(int by) {
  pthread_mutex_lock(&threads.mutex);
  threads.n_running += by;
  pthread_cond_broadcast(&threads.changed);
  pthread_mutex_unlock(&threads.mutex);
}

static void *
device_thread_main(void *data) {
  td_thread_self.queue = data;
  td_thread_self.device = td_thread_self.queue->device;
  char *name = td_format("pt_autograd_%d", td_thread_self.device);
  pthread_setname_np(pthread_self(), name);
  td_emit_name_thread(name, td_thread_self.device);
  free(name);
  td_ready_queue_announce(td_thread_self.queue, td_emit_thread_id());
  count_running(1);
  td_worker_main(NULL);
  count_running(-1);
  return NULL;
}

static void
wait_until_running(int n) {
  pthread_mutex_lock(&threads.mutex);
  while (threads.n_running != n)
    pthread_cond_wait(&threads.changed, &threads.mutex);
  pthread_mutex_unlock(&threads.mutex);
}

static void
end_threads(td_ready_queue **queues, int n) {
  for (int device = 0; device < n; device++)
    td_ready_queue_push_shutdown(queues[device]);
}

static int
start_threads(td_ready_queue **queues, int n) {
  for (int device = 0; device < n; device++) {
    pthread_t thread;
    queues[device] = td_ready_queue_new(device);
    int failure = pthread_create(&thread, NULL, device_thread_main, queues[device]);
    wait_until_running(failure ? device : device + 1);
    if (!failure) {
      pthread_detach(thread);
      continue;
    }
    end_threads(queues, device);
    wait_until_running(0);
    for (int i = 0; i <= device; i++)
      td_ready_queue_unref(queues[i]);
    return failure;
  }
  return 0;
}

/* Note [Start barrier]: no pass pushes a task before every device thread has its queue. All of them
 * start, or none; a later pass tries again. */
static td_status
start_locked(int n, td_error *error) {
  td_ready_queue **queues = TD_NEW_N(td_ready_queue *, n);
  int failure = start_threads(queues, n);
  if (failure) {
    free(queues);
    return td_error_set(error, TD_AUTOGRAD, "%s", strerror(failure));
  }
  td_device_queues_open(queues, n);
  atomic_store(&threads.is_started, true);
  return TD_OK;
}

static td_status
start(td_error *error) {
  int n = td_device_count();
  td_status status = TD_OK;
  if (!td_policy(fork_after_cpu) || n > 0) td_fork_forbid();
  if (n == 0) {
    atomic_store(&threads.is_started, true);
    return TD_OK;
  }
  pthread_mutex_lock(&threads.starting);
  if (!atomic_load(&threads.is_started)) status = start_locked(n, error);
  pthread_mutex_unlock(&threads.starting);
  return status;
}

td_status
td_device_threads_start(td_error *error) {
  if (td_fork_is_child())
    return td_error_set(
        error, TD_AUTOGRAD,
        "Unable to handle autograd's threading in combination with fork-based multiprocessing. See "
        "https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork");
  return atomic_load(&threads.is_started) ? TD_OK : start(error);
}

static double
shutdown_wait_limit_s(void) {
  const char *text = getenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT");
  return text ? atof(text) : SHUTDOWN_WAIT_LIMIT_S;
}

static bool
queues_are_empty(void) {
  td_ready_queue *queue;
  for (int device = 0; (queue = td_device_queue(device)); device++)
    if (td_ready_queue_size(queue) > 0) return false;
  return true;
}

static void
wait_for_end(double limit_s) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  double whole = floor(limit_s);
  deadline.tv_sec += (time_t)whole;
  deadline.tv_nsec += (long)((limit_s - whole) * 1e9);
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  pthread_mutex_lock(&threads.mutex);
  while (threads.n_running > 0)
    if (pthread_cond_timedwait(&threads.changed, &threads.mutex, &deadline)) break;
  pthread_mutex_unlock(&threads.mutex);
}

void
td_device_threads_stop(void) {
  pthread_mutex_lock(&threads.mutex);
  bool was_stopped = threads.is_stopped;
  threads.is_stopped = true;
  pthread_mutex_unlock(&threads.mutex);
  double limit_s = shutdown_wait_limit_s();
  if (was_stopped || td_fork_is_child() || limit_s <= 0 || !queues_are_empty()) return;
  int n;
  td_ready_queue **queues = td_device_queues_close(&n);
  end_threads(queues, n);
  wait_for_end(limit_s);
}
