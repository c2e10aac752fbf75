/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The numbers of a convolution (ConvParams in PyTorch). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Pairs are (height, width); lines do not use the first of each. */
typedef struct td_convolution {
  int n_dims; /* 2: images, 1: lines */
  bool transposed;
  int64_t groups;
  int64_t stride[2], padding[2], dilation[2], output_padding[2];
} td_convolution;
