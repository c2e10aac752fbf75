/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a time axis in nanoseconds gets its ticks. A step is 1, 2 or 5 times a power of ten, of
 * nanoseconds or of hours. Pure; any thread. */
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

/* td_ticks_text returns the label of a tick: at most four digits and a unit, another text for each
 * tick. If four digits cannot tell ticks apart, the first label is rounded ("≈ 12.35 s"), and the
 * others count from it ("+200 µs"). The caller frees. */
char *td_ticks_text(const td_ticks *ticks, uint32_t i);
