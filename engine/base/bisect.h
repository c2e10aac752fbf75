/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Binary search by a condition. Any thread. */
#pragma once

/* TD_BISECT sets the variable `at` to the first index from `first` on for which `comes_before` is
 * false, or to `end`. The condition is an expression of `at`. It must be true up to some index,
 * and false from there on. TD_BISECT evaluates it about log2(end - first) times. */
#define TD_BISECT(at, first, end, comes_before)                                                    \
  do {                                                                                             \
    __typeof__(at) bisect_low = (first), bisect_high = (end);                                      \
    while (bisect_low < bisect_high) {                                                             \
      (at) = bisect_low + (bisect_high - bisect_low) / 2;                                          \
      if (comes_before)                                                                            \
        bisect_low = (at) + 1;                                                                     \
      else                                                                                         \
        bisect_high = (at);                                                                        \
    }                                                                                              \
    (at) = bisect_low;                                                                             \
  } while (0)
