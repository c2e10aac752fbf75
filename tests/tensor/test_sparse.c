/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sparse tensors. What is done to one, done to the dense tensor that it stands for, gives the same:
 * over random tensors with repeated indices. */
#include "engine/base/alloc.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/sparse.h"
#include "tests/fixtures/elements.h"

#include <string.h>

enum { ROWS = 4, COLUMNS = 3, WIDTH = 2, N_RANDOM = 200 };
static const int64_t sizes[] = {ROWS, COLUMNS, WIDTH};

/* Up to 7 pieces of [WIDTH] whole numbers. */
static td_tensor *
random_sparse(td_dtype dtype) {
  int64_t n = g_test_rand_int_range(0, 8);
  td_tensor *indices = NULL, *values = NULL, *tensor = NULL;
  g_assert_cmpint(td_tensor_new(TD_INT64, TD_CPU, 2, (int64_t[]){2, n}, &indices, NULL), ==, TD_OK);
  g_assert_cmpint(td_tensor_new(dtype, TD_CPU, 2, (int64_t[]){n, WIDTH}, &values, NULL), ==, TD_OK);
  for (int64_t i = 0; i < n; i++) {
    td_tensor_set(indices, i, g_test_rand_int_range(0, ROWS));
    td_tensor_set(indices, n + i, g_test_rand_int_range(0, COLUMNS));
    for (int j = 0; j < WIDTH; j++)
      td_tensor_set(values, i * WIDTH + j, g_test_rand_int_range(-9, 10));
  }
  g_assert_cmpint(td_sparse_new(indices, values, 3, sizes, false, &tensor, NULL), ==, TD_OK);
  td_tensor_unref(indices);
  td_tensor_unref(values);
  return tensor;
}

static td_tensor *
dense_of(const td_tensor *tensor) {
  td_tensor *dense = NULL;
  g_assert_cmpint(td_sparse_to_dense(tensor, &dense, NULL), ==, TD_OK);
  return dense;
}

static void
assert_same(td_tensor *a, td_tensor *b) {
  g_assert_true(td_tensor_same_sizes(a, b));
  for (int64_t i = 0; i < td_tensor_n_elements(a); i++)
    g_assert_true(td_tensor_get_complex(a, i) == td_tensor_get_complex(b, i));
  td_tensor_unref(a);
  td_tensor_unref(b);
}

static void
test_coalesce(void) {
  for (int round = 0; round < N_RANDOM; round++) {
    td_tensor *tensor = random_sparse(TD_FLOAT64), *once = NULL, *again = NULL;
    g_assert_cmpint(td_sparse_coalesce(tensor, &once, NULL), ==, TD_OK);
    assert_same(dense_of(tensor), dense_of(once));
    const td_tensor *indices = once->sparse->indices;
    int64_t n = indices->sizes[1];
    for (int64_t i = 1; i < n; i++) {
      double before = td_tensor_get(indices, i - 1) * COLUMNS + td_tensor_get(indices, n + i - 1);
      double now = td_tensor_get(indices, i) * COLUMNS + td_tensor_get(indices, n + i);
      g_assert_cmpfloat(before, <, now);
    }
    g_assert_cmpint(td_sparse_coalesce(once, &again, NULL), ==, TD_OK);
    g_assert_true(again == once);
    td_tensor_unref(again);
    td_tensor_unref(once);
    td_tensor_unref(tensor);
  }
}

static void
test_sums(gconstpointer data) {
  td_dtype dtype = (td_dtype)GPOINTER_TO_INT(data);
  for (int round = 0; round < N_RANDOM; round++) {
    td_tensor *a = random_sparse(dtype), *b = random_sparse(dtype), *sum = NULL, *expected = NULL;
    td_tensor *dense = dense_of(a), *other = dense_of(b), *mixed = NULL;
    g_assert_cmpint(td_kernel_add(dense, other, &expected, NULL), ==, TD_OK);
    g_assert_cmpint(td_kernel_add(a, b, &sum, NULL), ==, TD_OK);
    g_assert_true(td_tensor_is_sparse(sum));
    assert_same(dense_of(sum), td_tensor_ref(expected));
    g_assert_cmpint(td_kernel_add(a, other, &mixed, NULL), ==, TD_OK);
    g_assert_false(td_tensor_is_sparse(mixed));
    assert_same(mixed, td_tensor_ref(expected));
    td_kernel_add_into(dense, b);
    assert_same(dense, td_tensor_ref(expected));
    td_kernel_add_into(a, b);
    assert_same(dense_of(a), expected);
    td_tensor *mine[] = {a, b, sum, other};
    for (size_t i = 0; i < TD_N_ELEMENTS(mine); i++)
      td_tensor_unref(mine[i]);
  }
}

static void
test_shared_and_copied(void) {
  td_tensor *tensor = random_sparse(TD_FLOAT32), *same = td_tensor_detach(tensor), *copy = NULL;
  td_tensor *cast = NULL;
  g_assert_cmpint(td_sparse_copy(tensor, tensor->dtype, tensor->device, &copy, NULL), ==, TD_OK);
  g_assert_true(same->sparse->values == tensor->sparse->values);
  g_assert_false(copy->sparse->values == tensor->sparse->values);
  assert_same(dense_of(copy), dense_of(tensor));
  g_assert_cmpint(td_kernel_cast(tensor, TD_COMPLEX128, &cast, NULL), ==, TD_OK);
  g_assert_cmpint(cast->sparse->values->dtype, ==, TD_COMPLEX128);
  assert_same(dense_of(cast), dense_of(tensor));
  td_tensor *mine[] = {tensor, same, copy, cast};
  for (size_t i = 0; i < TD_N_ELEMENTS(mine); i++)
    td_tensor_unref(mine[i]);
}

static void
test_refused(void) {
  static const struct {
    td_dtype indices_dtype;
    int64_t n_indices, n_values, index;
    const char *text;
  } rows[] = {
      {TD_FLOAT32, 1, 1, 0, "indices must be an int64 tensor"},
      {TD_INT64, 2, 1, 0, "*same nnz, but got nnz from indices: 2, nnz from values: 1"},
      {TD_INT64, 1, 1, 4,
       "size is inconsistent with indices: for dim 0, size is 4 but found index 4"},
      {TD_INT64, 1, 1, -1, "found negative index -1 for dim 0"},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(rows); i++) {
    td_tensor *indices = NULL, *values = NULL, *tensor = NULL;
    td_error error = {0};
    td_tensor_new(rows[i].indices_dtype, TD_CPU, 2, (int64_t[]){1, rows[i].n_indices}, &indices,
                  NULL);
    td_tensor_new(TD_FLOAT32, TD_CPU, 1, (int64_t[]){rows[i].n_values}, &values, NULL);
    td_tensor_set(indices, 0, (double)rows[i].index);
    g_assert_cmpint(td_sparse_new(indices, values, 1, sizes, false, &tensor, &error), !=, TD_OK);
    g_assert_true(g_pattern_match_simple(rows[i].text, error.message));
    td_error_clear(&error);
    td_tensor_unref(indices);
    td_tensor_unref(values);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/sparse/coalesce", test_coalesce);
  g_test_add_data_func("/sparse/sums/float", GINT_TO_POINTER(TD_FLOAT32), test_sums);
  g_test_add_data_func("/sparse/sums/integer", GINT_TO_POINTER(TD_INT32), test_sums);
  g_test_add_data_func("/sparse/sums/complex", GINT_TO_POINTER(TD_COMPLEX64), test_sums);
  g_test_add_func("/sparse/shared-and-copied", test_shared_and_copied);
  g_test_add_func("/sparse/refused", test_refused);
  return g_test_run();
}
