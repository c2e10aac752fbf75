/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/steps.h"

#include "engine/base/bisect.h"

static bool
is_step_of(const td_catalog *catalog, uint32_t process, uint32_t step) {
  uint32_t thread = catalog->steps[step].thread;
  return thread < catalog->n_threads && catalog->threads[thread].process == process;
}

bool
td_step_at(const td_catalog *catalog, uint32_t process, uint64_t seq, uint32_t *step) {
  uint32_t before, after;
  *step = TD_NONE;
  TD_BISECT(after, 0, catalog->n_steps, catalog->steps[after].seq < seq);
  before = after;
  while (after < catalog->n_steps && !is_step_of(catalog, process, after))
    after++;
  while (before > 0 && !is_step_of(catalog, process, before - 1))
    before--;
  bool found = after < catalog->n_steps;
  if (found || before > 0) *step = catalog->steps[found ? after : before - 1].iteration;
  return found;
}
