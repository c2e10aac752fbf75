/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Opens a tape in a window and does there what people do, to measure how long each action keeps the
 * main loop. Main thread. */
#pragma once

#include "app/bench/iterations.h"

#include <stdbool.h>

/* What one action cost. */
typedef struct td_walked {
  const char *what;
  double took_ms;  /* until nothing was in progress */
  double whole_ms; /* until the next action: pictures may change a little later */
  td_iterations iterations;
  unsigned n_frames; /* in whole_ms */
} td_walked;

/* td_walk_window does each action in turn, and hands what it cost to `walked`. Returns NULL, or why
 * it could not (owned). Call it once in a process: the process keeps its display. */
char *td_walk_window(const char *path, void (*walked)(const td_walked *walked));
