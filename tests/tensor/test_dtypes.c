/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dtypes that only hold elements: how they are read and written, and how a walk shows them. */
#include "engine/base/alloc.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/walk.h"

#include <glib.h>
#include <math.h>

static float
load(td_dtype dtype, uint16_t bits) {
  float x;
  td_dtype_load(dtype, &x, &bits, 1, 1);
  return x;
}

static uint16_t
store(td_dtype dtype, double x) {
  uint16_t bits;
  float single = (float)x;
  td_dtype_store(dtype, &bits, &single, 1, 1);
  return bits;
}

/* The value by its definition: a sign, an exponent, a fraction of `n` bits. */
static double
value_of(uint16_t bits, int n, int bias) {
  int exponent = (bits & 0x7fff) >> n, fraction = bits & ((1 << n) - 1);
  double size =
      exponent ? ldexp((1 << n) + fraction, exponent - bias - n) : ldexp(fraction, 1 - bias - n);
  return bits & 0x8000 ? -size : size;
}

/* Each number, and between it and the next one: what lies nearer, or in the middle the even one. */
static void
test_halves(void) {
  static const struct {
    td_dtype dtype;
    uint16_t infinity;
    int n, bias;
  } rows[] = {{TD_FLOAT16, 0x7c00, 10, 15}, {TD_BFLOAT16, 0x7f80, 7, 127}};
  for (size_t row = 0; row < TD_N_ELEMENTS(rows); row++) {
    td_dtype dtype = rows[row].dtype;
    for (uint32_t bits = 0; bits < rows[row].infinity; bits++)
      for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
        uint16_t here = (uint16_t)(bits | sign), next = (uint16_t)(here + 1);
        double x = value_of(here, rows[row].n, rows[row].bias);
        double y = value_of(next, rows[row].n, rows[row].bias), middle = (x + y) / 2;
        g_assert_cmpfloat((double)load(dtype, here), ==, x);
        g_assert_cmpuint(store(dtype, x), ==, here);
        g_assert_cmpuint(store(dtype, middle), ==, bits % 2 ? next : here);
        g_assert_cmpuint(store(dtype, (double)nextafterf((float)middle, (float)x)), ==, here);
        g_assert_cmpuint(store(dtype, (double)nextafterf((float)middle, (float)y)), ==, next);
      }
    g_assert_cmpuint(store(dtype, INFINITY), ==, rows[row].infinity);
    g_assert_cmpuint(store(dtype, -3e38 * 10), ==, rows[row].infinity | 0x8000);
    g_assert_true(isinf(load(dtype, rows[row].infinity)));
    g_assert_true(isnan(load(dtype, rows[row].infinity + 1)));
    g_assert_true(isnan(load(dtype, store(dtype, NAN))));
  }
}

static td_tensor *
new_tensor(td_dtype dtype, int64_t rows, int64_t columns) {
  td_tensor *tensor = NULL;
  g_assert_cmpint(td_tensor_new(dtype, TD_CPU, 2, (int64_t[]){rows, columns}, &tensor, NULL), ==,
                  TD_OK);
  return tensor;
}

/* Rows longer than a part, steps, and an operand that repeats: to = to + 2 row. */
static void
test_walk(void) {
  const td_dtype dtypes[] = {TD_FLOAT16, TD_BFLOAT16, TD_UINT8, TD_INT8, TD_INT16, TD_FLOAT32};
  const int64_t lengths[] = {1, 2, TD_WALK_PART - 1, TD_WALK_PART, 3 * TD_WALK_PART + 5};
  for (size_t i = 0; i < TD_N_ELEMENTS(dtypes); i++)
    for (size_t l = 0; l < TD_N_ELEMENTS(lengths); l++) {
      int64_t n = lengths[l], strides[] = {2 * n, 2};
      td_tensor *whole = new_tensor(dtypes[i], 3, 2 * n), *row = new_tensor(dtypes[i], 1, n);
      td_tensor *to = td_tensor_new_view(whole, 2, (int64_t[]){3, n}, strides, 1);
      for (int64_t at = 0; at < n; at++)
        td_tensor_set(row, at, (double)(at % 50));
      td_kernel_fill(to, 1);
      td_walk walk;
      td_walk_init(&walk, 2, to->sizes, 3, (const td_tensor *[]){to, to, row});
      TD_DISPATCH(dtypes[i], while (td_walk_row(&walk)) for (int64_t at = 0; at < walk.n; at++)(
                                 (T *)walk.at[0])[at * walk.step[0]] =
                                 ((T *)walk.at[1])[at * walk.step[1]] +
                                 2 * ((T *)walk.at[2])[at * walk.step[2]];)
      for (int64_t at = 0; at < 3 * n; at++)
        g_assert_cmpfloat(td_tensor_get(to, at), ==, (double)(1 + 2 * (at % n % 50)));
      for (int64_t at = 0; at < 6 * n; at += 2)
        g_assert_cmpfloat(td_tensor_get(whole, at), ==, 0);
      td_tensor_unref(to);
      td_tensor_unref(whole);
      td_tensor_unref(row);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dtypes/halves", test_halves);
  g_test_add_func("/dtypes/walk", test_walk);
  return g_test_run();
}
