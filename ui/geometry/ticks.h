/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a time axis gets its ticks: steps of 1, 2 or 5 times a power of ten. Pure; any thread. */
#pragma once

#include <stdint.h>

typedef struct td_ticks {
  double first,
      step; /* the first tick not before the start of the axis, and the distance between ticks */
  uint32_t n;
  uint32_t n_minor; /* how many minor steps make one step */
} td_ticks;

/* td_ticks_choose places at most `most` ticks (at least 1) between from and to. Empty if to <=
 * from. */
td_ticks td_ticks_choose(double from, double to, uint32_t most);
