/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums over runs of neighbouring elements, for normalizations. Within a run, vectors add in lanes;
 * from run to run, sums are doubles. Floating dtypes. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_moment_sum is the sum of x, td_moment_squares that of (x - mean)^2. td_moment_products adds
 * the sum of y to sums[0], and that of y (x - mean) to sums[1]. */
double td_moment_sum(td_dtype dtype, const void *x, int64_t n);
double td_moment_squares(td_dtype dtype, const void *x, int64_t n, double mean);
void td_moment_products(td_dtype dtype, const void *y, const void *x, int64_t n, double mean,
                        double sums[2]);

/* td_moment_line writes out = a x + b y + c; y may be NULL if b is 0. */
void td_moment_line(td_dtype dtype, void *out, const void *x, const void *y, int64_t n, double a,
                    double b, double c);
