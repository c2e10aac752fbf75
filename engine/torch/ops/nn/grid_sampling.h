/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How images are read at places of a grid. Private to engine/torch/ops but for those who call it.
 */
#pragma once

#include <stdbool.h>

typedef enum td_sampling_mode {
  TD_SAMPLING_BILINEAR,
  TD_SAMPLING_NEAREST,
  TD_SAMPLING_BICUBIC
} td_sampling_mode;

/* What is read outside the image: 0, the nearest border, or the image as in a mirror. */
typedef enum td_sampling_padding {
  TD_SAMPLING_ZEROS,
  TD_SAMPLING_BORDER,
  TD_SAMPLING_REFLECTION
} td_sampling_padding;

/* align: -1 and 1 are the centres of the outer pixels, else their outer edges. */
typedef struct td_grid_sampling {
  td_sampling_mode mode;
  td_sampling_padding padding;
  bool align;
} td_grid_sampling;
