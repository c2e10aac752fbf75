/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/worker.h"

#include <stdbool.h>
#include <sys/wait.h>

static double
hear(td_bench_worker *worker) {
  char line[64];
  return fgets(line, sizeof line, worker->from) ? g_ascii_strtod(line, NULL) : -1;
}

double
td_bench_worker_start(td_bench_worker *worker, char **argv, char **environment) {
  int to, from;
  *worker = (td_bench_worker){0};
  if (!g_spawn_async_with_pipes(NULL, argv, environment,
                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
                                    G_SPAWN_STDERR_TO_DEV_NULL,
                                NULL, NULL, &worker->pid, &to, &from, NULL, NULL))
    return -1;
  worker->to = fdopen(to, "w");
  worker->from = fdopen(from, "r");
  return hear(worker);
}

double
td_bench_worker_ask(td_bench_worker *worker, const char *line) {
  fprintf(worker->to, "%s\n", line);
  fflush(worker->to);
  return hear(worker);
}

void
td_bench_worker_end(td_bench_worker *worker) {
  if (worker->to) fclose(worker->to);
  if (worker->from) fclose(worker->from);
  if (worker->pid) waitpid(worker->pid, NULL, 0);
}

char **
td_bench_worker_environment(void) {
  char **environment = g_environ_setenv(g_get_environ(), "OMP_NUM_THREADS", "1", TRUE);
  return g_environ_unsetenv(environment, "PYTHONPATH");
}
