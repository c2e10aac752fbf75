/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/scripts.h"

#include "engine/base/forks.h"
#include "engine/probe/python.h"

#include <pthread.h>

static struct {
  pthread_mutex_t mutex; /* guards state */
  pthread_cond_t changed;
  enum { NOT_YET, UNDER_WAY, DONE } state;
  bool cut;
} scripts = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_first_thread;

static void
forked_cb(void) {
  pthread_mutex_init(&scripts.mutex, NULL);
  pthread_cond_init(&scripts.changed, NULL);
  scripts.cut = scripts.cut || scripts.state == UNDER_WAY;
  if (scripts.cut) scripts.state = DONE;
}

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_reset(forked_cb);
}

bool
td_scripts_begin(void) {
  pthread_mutex_lock(&scripts.mutex);
  bool is_first = scripts.state == NOT_YET;
  if (is_first) scripts.state = UNDER_WAY;
  if (is_first) is_first_thread = true;
  while (!is_first_thread && scripts.state == UNDER_WAY && !td_python_is_held())
    pthread_cond_wait(&scripts.changed, &scripts.mutex);
  pthread_mutex_unlock(&scripts.mutex);
  return is_first;
}

void
td_scripts_end(void) {
  pthread_mutex_lock(&scripts.mutex);
  scripts.state = DONE;
  pthread_cond_broadcast(&scripts.changed);
  pthread_mutex_unlock(&scripts.mutex);
}

bool
td_scripts_are_cut(void) {
  return scripts.cut;
}
