/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps: the pixels that one place of a grid reads, with their weights. A weight's derivatives are
 * by the place's coordinates x and y. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/nn/grid_sampling.h"

#include <stdint.h>

#define TD_MAX_TAPS 16
typedef struct td_tap {
  int64_t at; /* in the plane, row by row */
  double weight, x, y, xx, xy, yy;
} td_tap;

/* td_sample_taps writes the taps of a place (x, y) in an image of size (height, width) and returns
 * how many there are. `narrow` rounds coordinates and weights to float32. */
int td_sample_taps(const td_grid_sampling *sampling, const int64_t size[2], bool narrow, double x,
                   double y, td_tap taps[TD_MAX_TAPS]);
