/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A worker is a process that measures. It says a number when it is ready. Then it reads lines, and
 * answers each with a number. Workers that take turns meet the same noise. Main thread. */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct td_bench_worker {
  GPid pid;
  FILE *to, *from; /* (owned) */
} td_bench_worker;

/* td_bench_worker_start starts a worker and returns its first number, or -1 if there is none. In
 * either case td_bench_worker_end is due. */
double td_bench_worker_start(td_bench_worker *worker, char **argv, char **environment);

/* td_bench_worker_ask returns the answer to a line, or -1 if the worker is gone. */
double td_bench_worker_ask(td_bench_worker *worker, const char *line);

void td_bench_worker_end(td_bench_worker *worker);

/* td_bench_worker_environment returns an environment (owned) for one thread, without PYTHONPATH. */
char **td_bench_worker_environment(void);
