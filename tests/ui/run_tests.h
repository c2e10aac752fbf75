/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs the tests, then waits for the workers that a test has left: see ui/model/base/worker.h. */
#pragma once

#include "ui/model/base/worker.h"

static inline int
run_tests(void) {
  int status = g_test_run();
  while (td_worker_is_busy())
    g_usleep(1000);
  return status;
}
