/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic of integers that C does not define as PyTorch needs it. All bits count: nothing goes
 * through double. Results wrap around. The divisor is never 0. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/pointwise/complex.h"

#include <math.h>
#include <stdint.h>

/* td_integer_fmod returns a rest with the sign of x, td_integer_remainder one with the sign of y.
 */
static inline int64_t
td_integer_fmod(int64_t x, int64_t y) {
  return y == -1 ? 0 : x % y;
}

static inline int64_t
td_integer_remainder(int64_t x, int64_t y) {
  int64_t rest = td_integer_fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline int64_t
td_integer_floor_divide(int64_t x, int64_t y) {
  if (y == -1) return (int64_t)(0 - (uint64_t)x);
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

/* td_integer_power returns x^y. For y below 0 it is 0, but for x = 1 and x = -1. */
static inline int64_t
td_integer_power(int64_t x, int64_t y) {
  uint64_t power = 1, square = (uint64_t)x;
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  for (; y > 0; y /= 2, square *= square)
    if (y % 2) power *= square;
  return (int64_t)power;
}

/* TD_POWER(x, y) is x^y in the type of x. */
#define TD_POWER(x, y)                                                                             \
  _Generic(x, float                                                                                \
           : pow, double                                                                           \
           : pow, float _Complex                                                                   \
           : cpowf, double _Complex                                                                \
           : cpow, default                                                                         \
           : td_integer_power)(x, y)
