/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/iterations.h"

#include <glib.h>
#include <time.h>

static GPollFunc poll_before;
static td_iterations seen;
static double begin_ms, begin_processor_ms;

static double
clock_ms(clockid_t id) {
  struct timespec time;
  clock_gettime(id, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void
begin(void) {
  begin_ms = clock_ms(CLOCK_MONOTONIC);
  begin_processor_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void
end(void) {
  double took = clock_ms(CLOCK_MONOTONIC) - begin_ms;
  double processor = clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin_processor_ms;
  seen.longest_ms = MAX(seen.longest_ms, took);
  seen.processor_ms = MAX(seen.processor_ms, processor);
  seen.sum_ms += processor;
  seen.n++;
  if (processor > TD_ITERATION_LIMIT_MS) seen.n_over++;
}

static gint
watched_poll(GPollFD *fds, guint n, gint timeout) {
  end();
  gint ready = poll_before(fds, n, timeout);
  begin();
  return ready;
}

void
td_iterations_watch(void) {
  poll_before = g_main_context_get_poll_func(NULL);
  begin();
  g_main_context_set_poll_func(NULL, watched_poll);
}

td_iterations
td_iterations_take(void) {
  td_iterations taken = seen;
  seen = (td_iterations){0};
  return taken;
}
