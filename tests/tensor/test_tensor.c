/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensors, the walk over them, and the kernels the engine itself uses. */
#include "engine/base/alloc.h"
#include "engine/base/clock.h"
#include "engine/base/numbers.h"
#include "engine/torch/device/device.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/tensor.h"
#include "engine/torch/tensor/walk.h"
#include "tests/fixtures/elements.h"

#include <glib.h>
#include <math.h>

#define DIMS(...)                                                                                  \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) {                         \
    __VA_ARGS__                                                                                    \
  }

static td_tensor *
new_tensor(td_dtype dtype, int n_dims, const int64_t *sizes) {
  td_tensor *tensor = NULL;
  g_assert_cmpint(td_tensor_new(dtype, TD_CPU, n_dims, sizes, &tensor, NULL), ==, TD_OK);
  return tensor;
}

/* 0, 1, 2, ... */
static td_tensor *
new_counted(td_dtype dtype, int n_dims, const int64_t *sizes) {
  td_tensor *tensor = new_tensor(dtype, n_dims, sizes);
  for (int64_t i = 0; i < td_tensor_n_elements(tensor); i++)
    td_tensor_set(tensor, i, (double)i);
  return tensor;
}

static td_tensor *
transposed(const td_tensor *matrix) {
  return td_tensor_new_view(matrix, 2, (int64_t[]){matrix->sizes[1], matrix->sizes[0]},
                            (int64_t[]){matrix->strides[1], matrix->strides[0]}, matrix->offset);
}

static void
test_new(void) {
  td_tensor *tensor = new_tensor(TD_FLOAT32, DIMS(2, 3));
  char *text = td_tensor_shape_text(tensor);
  g_assert_cmpstr(text, ==, "[2, 3]");
  g_assert_cmpint(td_tensor_n_elements(tensor), ==, 6);
  g_assert_cmpuint(td_tensor_n_bytes(tensor), ==, 24);
  g_assert_cmpuint((uintptr_t)td_tensor_data(tensor) % 64, ==, 0);
  g_assert_true(td_tensor_is_contiguous(tensor));
  assert_elements(tensor, NUMBERS(0, 0, 0, 0, 0, 0));
  free(text);
  td_tensor_unref(tensor);
  td_tensor *scalar = td_tensor_new_scalar(TD_BOOL, 1, 7);
  g_assert_cmpint(scalar->n_dims, ==, 0);
  g_assert_cmpint(scalar->device, ==, 1);
  g_assert_cmpfloat(td_tensor_item(scalar), ==, 1);
  td_tensor_unref(scalar);
}

static void
test_refused(void) {
  static const struct {
    int n_dims;
    int64_t sizes[9];
    td_status status;
  } rows[] = {
      {2, {2, -1}, TD_SHAPE},
      {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, TD_SHAPE},
      {2, {INT64_MAX, 2}, TD_OUT_OF_MEMORY},
      {1, {INT64_MAX / 4}, TD_OUT_OF_MEMORY},
      {3, {0, INT64_MAX, INT64_MAX}, TD_OUT_OF_MEMORY},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    td_tensor *tensor = NULL;
    td_error error = {0};
    g_assert_cmpint(
        td_tensor_new(TD_FLOAT64, TD_CPU, rows[i].n_dims, rows[i].sizes, &tensor, &error), ==,
        rows[i].status);
    g_assert_null(tensor);
    g_assert_nonnull(error.message);
    td_error_clear(&error);
  }
}

static void
test_views(void) {
  td_tensor *base = new_counted(TD_INT64, DIMS(2, 3)), *view = transposed(base);
  td_tensor *row = td_tensor_new_view(base, 1, (int64_t[]){1}, (int64_t[]){99}, 4);
  g_assert_false(td_tensor_is_contiguous(view));
  g_assert_true(td_tensor_is_contiguous(row));
  assert_elements(view, NUMBERS(0, 3, 1, 4, 2, 5));
  assert_elements(row, NUMBERS(4));
  td_tensor_set(base, 4, 40);
  td_tensor_unref(base);
  assert_elements(view, NUMBERS(0, 3, 1, 40, 2, 5));
  td_tensor_unref(view);
  assert_elements(row, NUMBERS(40));
  td_tensor_unref(row);
}

static int
count_rows(td_walk *walk, int64_t *n_elements) {
  int rows = 0;
  *n_elements = 0;
  for (; td_walk_row(walk); rows++)
    *n_elements += walk->n;
  return rows;
}

static void
test_walk_merges(void) {
  td_tensor *a = new_tensor(TD_FLOAT32, DIMS(4, 1, 3, 5));
  td_tensor *b = new_tensor(TD_FLOAT32, DIMS(3, 5)), *empty = new_tensor(TD_FLOAT32, DIMS(4, 0));
  td_tensor *scalar = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_tensor *matrix = new_tensor(TD_FLOAT32, DIMS(3, 5)), *view = transposed(matrix);
  td_walk walk;
  int64_t n;
  td_walk_init(&walk, a->n_dims, a->sizes, 2, (const td_tensor *[]){a, a});
  g_assert_true(walk.dense);
  g_assert_cmpint(count_rows(&walk, &n), ==, 1);
  g_assert_cmpint(n, ==, 60);
  td_walk_init(&walk, a->n_dims, a->sizes, 2, (const td_tensor *[]){a, b});
  g_assert_cmpint(count_rows(&walk, &n), ==, 4);
  g_assert_cmpint(n, ==, 60);
  td_walk_init(&walk, a->n_dims, a->sizes, 2, (const td_tensor *[]){a, scalar});
  g_assert_cmpint(count_rows(&walk, &n), ==, 1);
  g_assert_false(walk.dense);
  td_walk_init(&walk, view->n_dims, view->sizes, 1, (const td_tensor *[]){view});
  g_assert_cmpint(count_rows(&walk, &n), ==, 5);
  td_walk_init(&walk, 0, NULL, 1, (const td_tensor *[]){scalar});
  g_assert_cmpint(count_rows(&walk, &n), ==, 1);
  td_walk_init(&walk, empty->n_dims, empty->sizes, 1, (const td_tensor *[]){empty});
  g_assert_cmpint(count_rows(&walk, &n), ==, 0);
  td_tensor *all[] = {a, b, empty, scalar, view, matrix};
  for (size_t i = 0; i < TD_N_ELEMENTS(all); i++)
    td_tensor_unref(all[i]);
}

/* Every pair of dtypes, into a transposed target. */
static void
test_copy_casts(void) {
  for (td_dtype from = 0; from < TD_N_DTYPES; from++)
    for (td_dtype to = 0; to < TD_N_DTYPES; to++) {
      td_tensor *src = new_counted(from, DIMS(2, 3)), *dst = new_tensor(to, DIMS(3, 2));
      td_tensor *view = transposed(dst);
      td_kernel_copy(view, src);
      bool is_bool = from == TD_BOOL || to == TD_BOOL;
      for (int i = 0; i < 6; i++)
        g_assert_cmpfloat(td_tensor_get(view, i), ==, is_bool ? i > 0 : i);
      td_tensor_unref(view);
      td_tensor_unref(dst);
      td_tensor_unref(src);
    }
}

static void
test_copy_keeps_integers(void) {
  td_tensor *a = new_tensor(TD_INT64, DIMS(1)), *b = new_tensor(TD_INT64, DIMS(1));
  *(int64_t *)td_tensor_data(a) = INT64_MAX;
  td_kernel_copy(b, a);
  g_assert_cmpint(*(int64_t *)td_tensor_data(b), ==, INT64_MAX);
  td_tensor_unref(a);
  td_tensor_unref(b);
}

static void
test_add(void) {
  td_tensor *a = new_counted(TD_FLOAT32, DIMS(3, 2)), *m = new_counted(TD_FLOAT32, DIMS(2, 3));
  td_tensor *b = transposed(m), *sum = NULL, *same = NULL;
  g_assert_cmpint(td_kernel_add(a, b, &sum, NULL), ==, TD_OK);
  assert_elements(sum, NUMBERS(0, 4, 3, 7, 6, 10));
  td_kernel_add_into(sum, a);
  assert_elements(sum, NUMBERS(0, 5, 5, 10, 10, 15));
  g_assert_cmpint(td_kernel_contiguous(sum, &same, NULL), ==, TD_OK);
  g_assert_true(same == sum);
  td_tensor *all[] = {a, m, b, sum, same};
  for (size_t i = 0; i < TD_N_ELEMENTS(all); i++)
    td_tensor_unref(all[i]);
}

static void
test_sum_to(void) {
  static const struct {
    int n_dims;
    int64_t sizes[3];
    int n;
    double sums[8];
  } rows[] = {
      {3, {2, 3, 2}, 0, {0}},
      {3, {1, 3, 2}, 6, {6, 8, 10, 12, 14, 16}},
      {2, {3, 2}, 6, {6, 8, 10, 12, 14, 16}},
      {3, {2, 1, 2}, 4, {6, 9, 24, 27}},
      {2, {3, 1}, 3, {14, 22, 30}},
      {1, {1}, 1, {66}},
      {0, {0}, 1, {66}},
  };
  td_tensor *x = new_counted(TD_FLOAT64, DIMS(2, 3, 2));
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    td_tensor *sum = NULL;
    g_assert_cmpint(td_kernel_sum_to(x, rows[i].n_dims, rows[i].sizes, &sum, NULL), ==, TD_OK);
    if (rows[i].n)
      assert_elements(sum, rows[i].n, rows[i].sums);
    else
      g_assert_true(sum == x);
    td_tensor_unref(sum);
  }
  td_tensor *none = NULL;
  td_error error = {0};
  g_assert_cmpint(td_kernel_sum_to(x, 1, (int64_t[]){3}, &none, &error), ==, TD_SHAPE);
  g_assert_cmpstr(td_error_text(&error), ==,
                  "a gradient of sizes [2, 3, 2] cannot be summed to [3]");
  td_error_clear(&error);
  td_tensor_unref(x);
}

/* Rows longer than the lanes, with every length of rest; exact because the numbers are small
 * integers. */
static void
test_long_sums(void) {
  for (int64_t n = 0; n < 70; n++) {
    td_tensor *x = new_counted(TD_FLOAT32, 1, &n), *sum = NULL;
    td_tensor *half = td_tensor_new_view(x, 1, (int64_t[]){(n + 1) / 2}, (int64_t[]){2}, 0);
    g_assert_cmpint(td_kernel_sum_to(x, 0, NULL, &sum, NULL), ==, TD_OK);
    g_assert_cmpfloat(td_tensor_item(sum), ==, n * (n - 1) / 2);
    td_tensor_unref(sum);
    g_assert_cmpint(td_kernel_sum_to(half, 0, NULL, &sum, NULL), ==, TD_OK);
    int64_t m = (n + 1) / 2;
    g_assert_cmpfloat(td_tensor_item(sum), ==, m * (m - 1));
    td_tensor_unref(sum);
    td_tensor_unref(half);
    td_tensor_unref(x);
  }
}

static unsigned
look(const td_tensor *tensor) {
  td_numbers numbers = td_tensor_numbers(tensor);
  return td_numbers_look(&numbers);
}

static void
test_non_finite(void) {
  for (td_dtype dtype = TD_FLOAT32; dtype <= TD_FLOAT64; dtype++)
    for (int strided = 0; strided < 2; strided++) {
      td_tensor *base = new_tensor(dtype, DIMS(5, 7)), *x = base;
      if (strided) x = transposed(base);
      td_tensor_set(x, 0, dtype == TD_FLOAT32 ? 3.4e38 : 1.7e308);
      td_tensor_set(x, 1, 1e-40);
      g_assert_cmpuint(look(x), ==, 0);
      td_tensor_set(x, 34, INFINITY);
      g_assert_cmpuint(look(x), ==, TD_NUMBERS_PLUS_INF);
      td_tensor_set(x, 9, -INFINITY);
      g_assert_cmpuint(look(x), ==, TD_NUMBERS_INF);
      td_tensor_set(x, 20, NAN);
      g_assert_cmpuint(look(x), ==, TD_NUMBERS_NAN | TD_NUMBERS_INF);
      td_tensor_set(x, 9, 0);
      td_tensor_set(x, 34, 0);
      g_assert_cmpuint(look(x), ==, TD_NUMBERS_NAN);
      if (strided) td_tensor_unref(x);
      td_tensor_unref(base);
    }
  td_tensor *whole = new_counted(TD_INT64, DIMS(3));
  g_assert_cmpuint(look(whole), ==, 0);
  td_tensor_unref(whole);
}

static void
test_devices(void) {
  static const struct {
    const char *specification;
    td_status status;
  } refused[] = {
      {"gpu", TD_INVALID},        {"cpu,sim:x", TD_INVALID}, {"sim:0", TD_INVALID},
      {"sim:-1", TD_INVALID},     {"sim:1 ", TD_INVALID},    {"cpu,,sim:1", TD_INVALID},
      {"sim:65", TD_INVALID},     {"sim:", TD_INVALID},      {"cpu,cuda", TD_UNSUPPORTED},
      {"cuda:1", TD_UNSUPPORTED}, {"", TD_INVALID},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(refused); i++) {
    td_error error = {0};
    g_assert_cmpint(td_device_setup(refused[i].specification, &error), ==, refused[i].status);
    g_assert_nonnull(error.message);
    td_error_clear(&error);
    g_assert_cmpint(td_device_count(), ==, 0);
  }
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_assert_cmpint(td_device_setup("cpu", NULL), ==, TD_INVALID);
  g_assert_cmpint(td_device_count(), ==, 2);
  g_assert_cmpstr(td_device_name(TD_CPU), ==, "cpu");
  g_assert_cmpstr(td_device_name(1), ==, "sim:1");
}

static void
test_find_device(void) {
  static const struct {
    const char *name;
    td_status status;
    td_device device;
  } rows[] = {
      {"cpu", TD_OK, TD_CPU}, {"sim", TD_OK, 0},         {"sim:1", TD_OK, 1}, {"sim:2", TD_INVALID},
      {"sim:1x", TD_INVALID}, {"simulated", TD_INVALID}, {"", TD_INVALID},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    td_device device = 77;
    g_assert_cmpint(td_device_find(rows[i].name, &device, NULL), ==, rows[i].status);
    if (rows[i].status == TD_OK) g_assert_cmpint(device, ==, rows[i].device);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/tensor/new", test_new);
  g_test_add_func("/engine/tensor/refused", test_refused);
  g_test_add_func("/engine/tensor/views", test_views);
  g_test_add_func("/engine/tensor/walk-merges", test_walk_merges);
  g_test_add_func("/engine/tensor/copy-casts", test_copy_casts);
  g_test_add_func("/engine/tensor/copy-keeps-integers", test_copy_keeps_integers);
  g_test_add_func("/engine/tensor/add", test_add);
  g_test_add_func("/engine/tensor/sum-to", test_sum_to);
  g_test_add_func("/engine/tensor/long-sums", test_long_sums);
  g_test_add_func("/engine/tensor/non-finite", test_non_finite);
  g_test_add_func("/engine/device/setup", test_devices);
  g_test_add_func("/engine/device/find", test_find_device);
  return g_test_run();
}
