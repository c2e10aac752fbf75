/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Images that are read at places of a grid. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/ops/nn/grid_sampling.h"
#include "engine/torch/tensor/tensor.h"

/* td_op_grid_sampler reads input [n, channels, height, width] at grid [n, rows, columns, 2], whose
 * pairs are (x, y) in [-1, 1] (GridSampler2DBackward0; edges input, grid). Differentiable twice
 * (GridSampler2DBackwardBackward0). TD_SHAPE, TD_DTYPE. */
td_status td_op_grid_sampler(const td_grid_sampling *sampling, td_tensor *input, td_tensor *grid,
                             td_tensor **out, td_error *error);

/* td_op_affine_grid: the places [n, height, width, 2] that theta [n, 2, 3] maps those of an image
 * of size [n, channels, height, width] to (AffineGridGeneratorBackward0). */
td_status td_op_affine_grid(td_tensor *theta, const int64_t size[4], bool align, td_tensor **out,
                            td_error *error);
