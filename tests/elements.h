/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tensor's elements against numbers written down, for tests. Main thread. */
#pragma once

#include "engine/tensor/tensor.h"

#include <glib.h>

/* assert_elements compares in row-major order; NUMBERS(1, 2) makes its last two arguments. */
static inline void
assert_elements(const td_tensor *tensor, int n, const double *elements) {
  g_assert_cmpint(td_tensor_n_elements(tensor), ==, n);
  for (int i = 0; i < n; i++)
    g_assert_cmpfloat(td_tensor_get(tensor, i), ==, elements[i]);
}
#define NUMBERS(...)                                                                               \
  (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]) {                            \
    __VA_ARGS__                                                                                    \
  }
