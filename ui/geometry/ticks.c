/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/ticks.h"

#include "engine/base/alloc.h"

#include <math.h>

td_ticks
td_ticks_choose(double from, double to, uint32_t most) {
  static const struct {
    double factor;
    uint32_t n_minor;
  } steps[] = {{1, 5}, {2, 4}, {5, 5}, {10, 5}};
  td_ticks ticks = {.first = from, .step = 1, .n = 0, .n_minor = 5};
  if (!(to > from) || most == 0) return ticks;
  double least = (to - from) / most, power = pow(10, floor(log10(least)));
  for (size_t i = 0; i < TD_N_ELEMENTS(steps); i++) {
    ticks.step = power * steps[i].factor;
    ticks.n_minor = steps[i].n_minor;
    if (ticks.step >= least * (1 - 1e-9)) break;
  }
  ticks.first = ceil(from / ticks.step - 1e-9) * ticks.step;
  if (ticks.first <= to) ticks.n = (uint32_t)floor((to - ticks.first) / ticks.step + 1e-9) + 1;
  return ticks;
}
