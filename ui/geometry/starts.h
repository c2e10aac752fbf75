/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Orders from which to begin: what belongs together stands side by side. Private to ui/geometry. */
#pragma once

#include "ui/geometry/levels.h"

typedef enum td_start {
  TD_START_DEPTH_FIRST,
  TD_START_DOWN, /* breadth first, from the sources */
  TD_START_UP,   /* breadth first, from the sinks */
  TD_START_MIRRORED
} td_start;

/* td_levels_start writes levels->order. `best` is the best order so far, for the mirrored start. */
void td_levels_start(td_levels *levels, td_start start, const uint32_t *best);
