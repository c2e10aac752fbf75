/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What operations compute, apart from gradients: sizes without elements, dtypes, elements of views
 * and of writes in place, comparisons, random streams. */
#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/random/random.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/elements.h"
#include "tests/ops/op_fixture.h"

#include <math.h>
#include <string.h>

static void
assert_sizes(const td_tensor *tensor, int n_dims, const int64_t *sizes) {
  char *expected = td_sizes_text(n_dims, sizes), *got = td_tensor_shape_text(tensor);
  g_assert_cmpstr(got, ==, expected);
  free(expected);
  free(got);
}

static void
test_zero_sizes(void) {
  td_error error = {0};
  static const struct {
    const char *op;
    const char *shapes[MAX_INPUTS];
    const char *result;
  } empty[] = {
      {"add", {"0 3", "3"}, "0 3"},
      {"exp", {"0"}, "0"},
      {"sum", {"0 3"}, ""},
      {"mm", {"0 3", "3 2"}, "0 2"},
      {"mm", {"2 3", "3 0"}, "2 0"},
      {"softmax", {"0 3"}, "0 3"},
      {"conv2d", {"0 3 5 5", "2 3 3 3", "2"}, "0 2 3 3"},
      {"max-pool2d", {"0 2 4 4"}, "0 2 2 2"},
      {"cat", {"2 0", "2 3"}, "2 3"},
      {"permute", {"0 2 3"}, "3 0 2"},
      {"clone", {"2 0 3"}, "2 0 3"},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(empty); i++) {
    op_case op = {.name = "empty", .call = op_case_find(empty[i].op)->call, .low = -2, .high = 2};
    memcpy(op.shapes, empty[i].shapes, sizeof op.shapes);
    op_fixture f;
    td_tensor *out = NULL, *gradients[MAX_INPUTS] = {NULL};
    int64_t sizes[TD_MAX_DIMS];
    int n_dims = parse_shape(empty[i].result, sizes);
    op_fixture_init(&f, &op, false);
    assert_ok(op.call(f.x, &out, &error), &error);
    assert_sizes(out, n_dims, sizes);
    td_tensor *loss = loss_of(&f);
    assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
    for (int input = 0; input < f.n; input++)
      g_assert_true(td_tensor_same_sizes(gradients[input], f.x[input]));
    td_tensor_unref(loss);
    td_tensor_unref(out);
    unref_all(f.n, gradients);
    op_fixture_fini(&f);
  }
}

static void
test_promotion(void) {
  static const struct {
    td_dtype a;
    int a_dims;
    td_dtype b;
    int b_dims;
    td_dtype sum, quotient;
  } rows[] = {
      {TD_FLOAT32, 1, TD_FLOAT64, 1, TD_FLOAT64, TD_FLOAT64},
      {TD_FLOAT32, 1, TD_FLOAT64, 0, TD_FLOAT32, TD_FLOAT32},
      {TD_FLOAT32, 0, TD_FLOAT64, 0, TD_FLOAT64, TD_FLOAT64},
      {TD_INT64, 1, TD_FLOAT32, 0, TD_FLOAT32, TD_FLOAT32},
      {TD_INT64, 1, TD_FLOAT64, 0, TD_FLOAT64, TD_FLOAT64},
      {TD_INT64, 0, TD_FLOAT32, 1, TD_FLOAT32, TD_FLOAT32},
      {TD_INT64, 1, TD_INT64, 1, TD_INT64, TD_FLOAT32},
      {TD_BOOL, 1, TD_INT64, 0, TD_INT64, TD_FLOAT32},
      {TD_BOOL, 1, TD_BOOL, 1, TD_BOOL, TD_FLOAT32},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    td_tensor *a = NULL, *b = NULL, *sum = NULL, *quotient = NULL;
    td_error error = {0};
    assert_ok(td_tensor_new(rows[i].a, TD_CPU, rows[i].a_dims, (int64_t[]){2}, &a, &error), &error);
    assert_ok(td_tensor_new(rows[i].b, TD_CPU, rows[i].b_dims, (int64_t[]){2}, &b, &error), &error);
    assert_ok(td_op_add(a, b, 1, &sum, &error), &error);
    assert_ok(td_op_div(a, b, &quotient, &error), &error);
    g_assert_cmpstr(td_dtype_name(sum->dtype), ==, td_dtype_name(rows[i].sum));
    g_assert_cmpstr(td_dtype_name(quotient->dtype), ==, td_dtype_name(rows[i].quotient));
    unref_all(4, (td_tensor *[]){a, b, sum, quotient});
  }
}

static void
test_views_share(void) {
  td_tensor *x = new_tensor("2 3"), *row = NULL, *transposed = NULL, *copy = NULL;
  td_error error = {0};
  assert_ok(td_op_select(x, 0, 1, &row, &error), &error);
  assert_ok(td_op_t(x, &transposed, &error), &error);
  assert_ok(td_op_clone(transposed, &copy, &error), &error);
  assert_ok(td_op_fill_into(row, 5, &error), &error);
  assert_elements(x, NUMBERS(0, 0, 0, 5, 5, 5));
  assert_elements(transposed, NUMBERS(0, 5, 0, 5, 0, 5));
  assert_elements(copy, NUMBERS(0, 0, 0, 0, 0, 0));
  unref_all(4, (td_tensor *[]){x, row, transposed, copy});
}

static void
test_in_place(void) {
  td_tensor *x = new_tensor("2 2"), *row = new_tensor("2"), *wide = new_tensor("3 2 2");
  td_error error = {0};
  td_tensor_set(row, 0, 1);
  td_tensor_set(row, 1, 2);
  assert_ok(td_op_add_into(x, row, 3, &error), &error);
  assert_elements(x, NUMBERS(3, 6, 3, 6));
  assert_ok(td_op_mul_into(x, row, &error), &error);
  assert_elements(x, NUMBERS(3, 12, 3, 12));
  assert_ok(td_op_copy_into(x, row, &error), &error);
  assert_elements(x, NUMBERS(1, 2, 1, 2));
  g_assert_cmpint(td_op_add_into(x, wide, 1, &error), ==, TD_SHAPE);
  g_assert_cmpstr(td_error_text(&error), ==,
                  "output with shape [2, 2] doesn't match the broadcast shape [3, 2, 2]");
  assert_ok(td_set_requires_grad(x, true, &error), &error);
  g_assert_cmpint(td_op_fill_into(x, 0, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==,
                  "a leaf Variable that requires grad is being used in an in-place operation.");
  td_error_clear(&error);
  td_grad_mode_set(false);
  assert_ok(td_op_add_into(x, row, -1, &error), &error);
  td_grad_mode_set(true);
  assert_elements(x, NUMBERS(0, 0, 0, 0));
  unref_all(3, (td_tensor *[]){x, row, wide});
}

static void
test_compare(void) {
  td_tensor *x = new_tensor("4"), *zero = new_tensor(""), *out = NULL;
  td_error error = {0};
  const double values[] = {-1, 0, NAN, INFINITY};
  for (int i = 0; i < 4; i++)
    td_tensor_set(x, i, values[i]);
  static const struct {
    td_status (*call)(td_tensor *, td_tensor *, td_tensor **, td_error *);
    double expected[4];
  } rows[] = {
      {td_op_eq, {0, 1, 0, 0}}, {td_op_ne, {1, 0, 1, 1}}, {td_op_lt, {1, 0, 0, 0}},
      {td_op_le, {1, 1, 0, 0}}, {td_op_gt, {0, 0, 0, 1}}, {td_op_ge, {0, 1, 0, 1}},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    assert_ok(rows[i].call(x, zero, &out, &error), &error);
    g_assert_cmpint(out->dtype, ==, TD_BOOL);
    assert_elements(out, 4, rows[i].expected);
    td_tensor_unref(out);
  }
  assert_ok(td_op_isnan(x, &out, &error), &error);
  assert_elements(out, NUMBERS(0, 0, 1, 0));
  td_tensor_unref(out);
  assert_ok(td_op_isinf(x, &out, &error), &error);
  assert_elements(out, NUMBERS(0, 0, 0, 1));
  unref_all(3, (td_tensor *[]){x, zero, out});
}

static void
test_argmax(void) {
  td_tensor *x = new_tensor("2 3"), *all = NULL, *rows = NULL, *columns = NULL;
  td_error error = {0};
  const double values[] = {1, 7, 7, 3, NAN, 9};
  for (int i = 0; i < 6; i++)
    td_tensor_set(x, i, values[i]);
  assert_ok(td_op_argmax(x, &all, &error), &error);
  assert_ok(td_op_argmax_dim(x, 1, false, &rows, &error), &error);
  assert_ok(td_op_argmax_dim(x, 0, true, &columns, &error), &error);
  assert_elements(all, NUMBERS(4));
  assert_elements(rows, NUMBERS(1, 1));
  assert_elements(columns, NUMBERS(1, 1, 1));
  assert_sizes(columns, DIMS(1, 3));
  unref_all(4, (td_tensor *[]){x, all, rows, columns});
}

static void
assert_floats(const td_tensor *tensor, int n, const double *elements) {
  g_assert_cmpint(td_tensor_n_elements(tensor), ==, n);
  for (int i = 0; i < n; i++)
    g_assert_cmpfloat(td_tensor_get(tensor, i), ==, (float)elements[i]);
}

/* Numbers that PyTorch 1.13.1 printed after torch.manual_seed(0). */
static void
test_random_streams(void) {
  td_tensor *uniform = NULL, *few = NULL, *many = NULL, *order = NULL;
  td_error error = {0};
  td_manual_seed(0);
  assert_ok(td_op_rand(NULL, TD_FLOAT32, TD_CPU, DIMS(3), &uniform, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randn(NULL, TD_FLOAT32, TD_CPU, DIMS(3), &few, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randn(NULL, TD_FLOAT32, TD_CPU, DIMS(17), &many, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randperm(NULL, 10, &order, &error), &error);
  assert_floats(uniform, NUMBERS(0.49625659, 0.768221796, 0.0884774327));
  assert_floats(few, NUMBERS(1.54099607, -0.293428898, -2.17878938));
  assert_floats(many, NUMBERS(-1.12583983, -1.6959312, 0.566650629, 0.793508351, 0.598839462,
                              -1.55509508, -0.34136039, 1.85300612, 0.468096405, -0.585497558,
                              -0.173396751, 0.183477938, 1.38936615, 1.58633423, 0.946298361,
                              -0.843676746, 0.931826591));
  assert_elements(order, NUMBERS(4, 1, 7, 5, 3, 9, 0, 8, 6, 2));
  unref_all(4, (td_tensor *[]){uniform, few, many, order});
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  td_device_setup("cpu,sim:1", NULL);
  g_test_add_func("/engine/ops/zero-sizes", test_zero_sizes);
  g_test_add_func("/engine/ops/promotion", test_promotion);
  g_test_add_func("/engine/ops/views-share", test_views_share);
  g_test_add_func("/engine/ops/in-place", test_in_place);
  g_test_add_func("/engine/ops/compare", test_compare);
  g_test_add_func("/engine/ops/argmax", test_argmax);
  g_test_add_func("/engine/ops/random-streams", test_random_streams);
  return g_test_run();
}
