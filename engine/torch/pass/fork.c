/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/fork.h"

#include <pthread.h>

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static bool forked; /* in the child of a fork: threads are missing here */

static void
forked_cb(void) {
  forked = true;
}

static void
watch_forks_cb(void) {
  pthread_atfork(NULL, NULL, forked_cb);
}

void
td_fork_forbid(void) {
  pthread_once(&fork_once, watch_forks_cb);
}

bool
td_fork_is_child(void) {
  return forked;
}
