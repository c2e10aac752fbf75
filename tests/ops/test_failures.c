/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations that refuse their inputs: the status, and PyTorch's text. */
#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/nn/loss.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "tests/ops/op_fixture.h"

#include <glib.h>
#include <string.h>

typedef struct failure {
  const char *name;
  op_call call;   /* or NULL: that of */
  const char *op; /* in the table */
  const char *shapes[MAX_INPUTS];
  td_status status;
  const char *text; /* a part of the message */
} failure;

CALL(view_bad, td_op_view(x[0], DIMS(4, -1), out, error))
CALL(view_two_unknown, td_op_view(x[0], DIMS(-1, -1), out, error))
CALL(expand_bad, td_op_expand(x[0], DIMS(2, 4), out, error))
CALL(select_bad, td_op_select(x[0], 0, 2, out, error))
CALL(sum_bad, td_op_sum_dims(x[0], DIMS(2), false, out, error))
CALL(sum_twice, td_op_sum_dims(x[0], DIMS(0, -2), false, out, error))
CALL(permute_twice, td_op_permute(x[0], DIMS(0, 0), out, error))
CALL(index_bad, with_indices(DIMS(0, 7), x[0], 0, index_rows, out, error))
CALL(nll_bad, with_indices(DIMS(7, 0), x[0], TD_REDUCTION_MEAN, td_op_nll_loss, out, error))

static td_status
call_view_transposed(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *transposed = NULL;
  td_status status = td_op_t(x[0], &transposed, error);
  if (status == TD_OK) status = td_op_view(transposed, DIMS(-1), out, error);
  td_tensor_unref(transposed);
  return status;
}

static td_status
call_mixed_dtypes(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *single = NULL;
  td_status status = td_op_to_dtype(x[0], TD_FLOAT32, &single, error);
  if (status == TD_OK) status = td_op_mm(single, x[1], out, error);
  td_tensor_unref(single);
  return status;
}

static td_status
call_mixed_devices(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *moved = NULL;
  td_status status = td_op_to_device(x[0], 0, &moved, error);
  if (status == TD_OK) status = td_op_mul(moved, x[1], out, error);
  td_tensor_unref(moved);
  return status;
}

static const failure failures[] = {
    {"broadcast",
     .op = "add",
     {"3 2", "4 2"},
     TD_SHAPE,
     "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"},
    {"mm",
     .op = "mm",
     {"2 3", "4 5"},
     TD_SHAPE,
     "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"},
    {"linear",
     .op = "linear",
     {"2 3", "4 5", "4"},
     TD_SHAPE,
     "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)"},
    {"mm-dtypes", call_mixed_dtypes, .shapes = {"2 3", "3 2"}, TD_DTYPE,
     "expected m1 and m2 to have the same dtype, but got: float != double"},
    {"devices", call_mixed_devices, .shapes = {"2 3", "2 3"}, TD_DEVICE,
     "Expected all tensors to be on the same device, but found at least two devices, sim:0 and "
     "cpu!"},
    {"dot", .op = "dot", {"3", "4"}, TD_SHAPE, "inconsistent tensor size"},
    {"bmm",
     .op = "bmm",
     {"2 3 4", "2 3 4"},
     TD_SHAPE,
     "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]."},
    {"matmul-scalar", .op = "matmul-folded", {"", "2 3"}, TD_SHAPE, "0D and 2D"},
    {"view", call_view_bad, .shapes = {"2 3"}, TD_SHAPE,
     "shape '[4, -1]' is invalid for input of size 6"},
    {"view-unknown", call_view_two_unknown, .shapes = {"2 3"}, TD_SHAPE,
     "only one dimension can be inferred"},
    {"view-strides", call_view_transposed, .shapes = {"2 3"}, TD_SHAPE,
     "view size is not compatible with input tensor's size and stride"},
    {"expand", call_expand_bad, .shapes = {"2 3"}, TD_SHAPE,
     "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
     "dimension 1."},
    {"t",
     .op = "t",
     {"2 3 4"},
     TD_SHAPE,
     "t() expects a tensor with <= 2 dimensions, but self is 3D"},
    {"select", call_select_bad, .shapes = {"2 3"}, TD_OUT_OF_RANGE,
     "index 2 is out of bounds for dimension 0 with size 2"},
    {"dimension", call_sum_bad, .shapes = {"2 3"}, TD_OUT_OF_RANGE,
     "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
    {"dimension-twice", call_sum_twice, .shapes = {"2 3"}, TD_INVALID,
     "dim 0 appears multiple times in the list of dims"},
    {"permute", call_permute_twice, .shapes = {"2 3"}, TD_INVALID, "duplicate dims"},
    {"index", call_index_bad, .shapes = {"2 3"}, TD_OUT_OF_RANGE,
     "index 7 is out of bounds for dimension 0 with size 2"},
    {"target", call_nll_bad, .shapes = {"2 3"}, TD_OUT_OF_RANGE, "Target 7 is out of bounds."},
    {"batch",
     .op = "cross-entropy",
     {"2 4"},
     TD_VALUE,
     "Expected input batch_size (2) to match target batch_size (3)."},
    {"cat",
     .op = "cat",
     {"2 3", "3 1"},
     TD_SHAPE,
     "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor "
     "number 1 in the list."},
    {"conv2d-channels",
     .op = "conv2d",
     {"1 2 5 5", "2 3 3 3", "2"},
     TD_SHAPE,
     "to have 3 channels, but got 2 channels instead"},
    {"conv2d-kernel",
     .op = "conv2d",
     {"1 3 2 5", "2 3 3 3", "2"},
     TD_SHAPE,
     "Kernel size can't be greater than actual input size"},
    {"max-empty", .op = "max", {"0"}, TD_INVALID, "Expected reduction dim to be specified"},
    {"mse",
     .op = "mse-mean",
     {"2 3", "3 2"},
     TD_SHAPE,
     "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"},
    {"stack",
     .op = "stack",
     {"2 3", "2 1"},
     TD_SHAPE,
     "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [2, 1] at entry 1"},
};

static void
test_failure(const void *data) {
  const failure *expected = data;
  op_call call = expected->op ? op_case_find(expected->op)->call : expected->call;
  td_tensor *x[MAX_INPUTS] = {NULL}, *out = NULL;
  td_error error = {0};
  for (int i = 0; i < MAX_INPUTS && expected->shapes[i]; i++)
    x[i] = new_tensor(expected->shapes[i]);
  g_assert_cmpint(call(x, &out, &error), ==, expected->status);
  g_assert_null(out);
  if (!strstr(td_error_text(&error), expected->text))
    g_error("expected \"%s\" in \"%s\"", expected->text, td_error_text(&error));
  td_error_clear(&error);
  unref_all(MAX_INPUTS, x);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  td_device_setup("cpu,sim:1", NULL);
  for (size_t i = 0; i < TD_N_ELEMENTS(failures); i++) {
    char *path = td_format("/engine/ops/failure/%s", failures[i].name);
    g_test_add_data_func(path, &failures[i], test_failure);
    free(path);
  }
  return g_test_run();
}
