/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations. Every gradient, and every gradient of a gradient, is compared with finite differences
 * in float64, over contiguous and over strided inputs: one generic test over the table of cases.
 * Then what PyTorch promises and differences cannot see: node names, dtypes, error texts, views,
 * in-place updates, the random streams. */
#include "engine/base/alloc.h"
#include "engine/device/device.h"
#include "engine/graph/variable.h"
#include "engine/ops/compare.h"
#include "engine/ops/convolution.h"
#include "engine/ops/linalg.h"
#include "engine/ops/loss.h"
#include "engine/ops/normalization.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/pooling.h"
#include "engine/ops/random.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"
#include "engine/pass/engine.h"
#include "engine/tensor/kernels.h"

#include <glib.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define MAX_INPUTS 3

typedef td_status (*op_call)(td_tensor *const *x, td_tensor **out, td_error *error);

typedef struct op_case {
  const char *name; /* of the test */
  const char *node; /* of the node that the result hangs on */
  op_call call;
  const char *shapes[MAX_INPUTS]; /* "2 3"; "" has no dimensions; NULL: no more inputs */
  double low, high;               /* of the inputs' elements */
  bool once;                      /* its backward has no derivative of its own */
  bool contiguous;                /* it refuses strided inputs */
} op_case;

#define CALL(name, expression)                                                                     \
  static td_status call_##name(td_tensor *const *x, td_tensor **out, td_error *error) {            \
    return expression;                                                                             \
  }
#define DIMS(...)                                                                                  \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) {                         \
    __VA_ARGS__                                                                                    \
  }
#define PAIR(a, b)                                                                                 \
  (int64_t[2]) {                                                                                   \
    a, b                                                                                           \
  }

#define TD_UNARY(name, ...) CALL(name, td_op_##name(x[0], out, error))
#include "engine/ops/unary.def"
#include "tests/fixtures/elements.h"
#undef TD_UNARY
CALL(relu, td_op_relu(x[0], out, error))
CALL(tanh, td_op_tanh(x[0], out, error))
CALL(sigmoid, td_op_sigmoid(x[0], out, error))
CALL(add, td_op_add(x[0], x[1], 1, out, error))
CALL(add_alpha, td_op_add(x[0], x[1], 2.5, out, error))
CALL(add_self, td_op_add(x[0], x[0], 1, out, error))
CALL(sub, td_op_sub(x[0], x[1], 1, out, error))
CALL(sub_alpha, td_op_sub(x[0], x[1], -3, out, error))
CALL(rsub, td_op_rsub(x[0], 2.5, out, error))
CALL(mul, td_op_mul(x[0], x[1], out, error))
CALL(mul_self, td_op_mul(x[0], x[0], out, error))
CALL(div, td_op_div(x[0], x[1], out, error))
CALL(square, td_op_pow_scalar(x[0], 2, out, error))
CALL(cube, td_op_pow_scalar(x[0], 3, out, error))
CALL(root, td_op_pow_scalar(x[0], 0.5, out, error))
CALL(inverse, td_op_pow_scalar(x[0], -1, out, error))
CALL(zeroth, td_op_pow_scalar(x[0], 0, out, error))
CALL(pow, td_op_pow(x[0], x[1], out, error))
CALL(sum, td_op_sum(x[0], out, error))
CALL(sum_dims, td_op_sum_dims(x[0], DIMS(0, -1), false, out, error))
CALL(sum_keep, td_op_sum_dims(x[0], DIMS(1), true, out, error))
CALL(mean, td_op_mean(x[0], out, error))
CALL(mean_dims, td_op_mean_dims(x[0], DIMS(1), false, out, error))
CALL(max, td_op_max(x[0], out, error))
CALL(view, td_op_view(x[0], DIMS(3, -1), out, error))
CALL(reshape, td_op_reshape(x[0], DIMS(-1, 2), out, error))
CALL(flatten, td_op_flatten(x[0], 1, -1, out, error))
CALL(t, td_op_t(x[0], out, error))
CALL(transpose, td_op_transpose(x[0], 0, -1, out, error))
CALL(permute, td_op_permute(x[0], DIMS(2, 0, 1), out, error))
CALL(expand, td_op_expand(x[0], DIMS(4, 2, 3), out, error))
CALL(unsqueeze, td_op_unsqueeze(x[0], -2, out, error))
CALL(squeeze, td_op_squeeze(x[0], out, error))
CALL(squeeze_dim, td_op_squeeze_dim(x[0], 1, out, error))
CALL(select, td_op_select(x[0], 1, -2, out, error))
CALL(slice, td_op_slice(x[0], 1, 1, 100, 2, out, error))
CALL(clone, td_op_clone(x[0], out, error))
CALL(cat, td_op_cat(2, x, 1, out, error))
CALL(stack, td_op_stack(2, x, -1, out, error))
CALL(mm, td_op_mm(x[0], x[1], out, error))
CALL(mv, td_op_mv(x[0], x[1], out, error))
CALL(dot, td_op_dot(x[0], x[1], out, error))
CALL(bmm, td_op_bmm(x[0], x[1], out, error))
CALL(addmm, td_op_addmm(x[0], x[1], x[2], out, error))
CALL(matmul, td_op_matmul(x[0], x[1], out, error))
CALL(linear, td_op_linear(x[0], x[1], x[2], out, error))
CALL(linear_plain, td_op_linear(x[0], x[1], NULL, out, error))
#define CONV2D(...) (&(td_convolution){.n_dims = 2, __VA_ARGS__})
#define PLAIN .groups = 1, .stride = {1, 1}, .dilation = {1, 1}
CALL(conv2d, td_op_convolution(CONV2D(PLAIN), x[0], x[1], x[2], out, error))
CALL(conv2d_wide,
     td_op_convolution(CONV2D(.groups = 1, .stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 1}),
                       x[0], x[1], NULL, out, error))
CALL(conv2d_groups,
     td_op_convolution(CONV2D(.groups = 2, .stride = {2, 2}, .padding = {1, 2}, .dilation = {1, 2}),
                       x[0], x[1], x[2], out, error))
CALL(conv2d_point, td_op_convolution(CONV2D(PLAIN), x[0], x[1], NULL, out, error))
CALL(conv1d, td_op_convolution(&(td_convolution){.n_dims = 1, PLAIN, .padding = {0, 1}}, x[0], x[1],
                               x[2], out, error))
CALL(conv_transpose2d,
     td_op_convolution(CONV2D(.transposed = true, .groups = 2, .stride = {2, 3}, .padding = {1, 0},
                              .dilation = {1, 1}, .output_padding = {1, 2}),
                       x[0], x[1], x[2], out, error))
#define POOL(...) (&(td_pooling){__VA_ARGS__})
#define HALVES .kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}
CALL(max_pool2d, td_op_max_pool2d(POOL(HALVES), x[0], out, NULL, error))
CALL(max_pool2d_pad, td_op_max_pool2d(POOL(.kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 1},
                                           .dilation = {1, 2}, .ceil_mode = true),
                                      x[0], out, NULL, error))
CALL(avg_pool2d, td_op_avg_pool2d(POOL(.kernel = {3, 2}, .stride = {2, 2}, .padding = {1, 1},
                                       .ceil_mode = true),
                                  x[0], out, error))
CALL(adaptive_avg_pool2d, td_op_adaptive_avg_pool2d(PAIR(2, 3), x[0], out, error))
#define BATCH_NORM(...) (&(td_batch_norm){.weight = x[1], .bias = x[2], .eps = 0.01, __VA_ARGS__})
CALL(batch_norm, td_op_batch_norm(x[0], BATCH_NORM(.training = true), out, error))
CALL(layer_norm, td_op_layer_norm(x[0], DIMS(3, 2), x[1], x[2], 0.01, out, error))
CALL(group_norm, td_op_group_norm(x[0], 2, x[1], x[2], 0.01, out, error))
CALL(layer_norm_plain, td_op_layer_norm(x[0], DIMS(4), NULL, NULL, 0.01, out, error))

/* Of running moments that are not the input's own. */
static td_status
call_batch_norm_given(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *mean, *var;
  g_assert_cmpint(td_tensor_new(x[0]->dtype, TD_CPU, 1, &x[0]->sizes[1], &mean, error), ==, 0);
  g_assert_cmpint(td_tensor_new(x[0]->dtype, TD_CPU, 1, &x[0]->sizes[1], &var, error), ==, 0);
  td_kernel_fill(mean, 0.5);
  td_kernel_fill(var, 2);
  td_status status =
      td_op_batch_norm(x[0], BATCH_NORM(.running_mean = mean, .running_var = var), out, error);
  td_tensor_unref(mean);
  td_tensor_unref(var);
  return status;
}
CALL(softmax, td_op_softmax(x[0], -1, out, error))
CALL(softmax_first, td_op_softmax(x[0], 0, out, error))
CALL(log_softmax, td_op_log_softmax(x[0], 1, out, error))
CALL(mse_mean, td_op_mse_loss(x[0], x[1], TD_REDUCTION_MEAN, out, error))
CALL(mse_sum, td_op_mse_loss(x[0], x[1], TD_REDUCTION_SUM, out, error))
CALL(mse_none, td_op_mse_loss(x[0], x[1], TD_REDUCTION_NONE, out, error))

static td_tensor *
int_vector(int n, const int64_t *numbers) {
  td_tensor *tensor = NULL;
  g_assert_cmpint(td_tensor_new(TD_INT64, TD_CPU, 1, (int64_t[]){n}, &tensor, NULL), ==, TD_OK);
  memcpy(td_tensor_data(tensor), numbers, n * sizeof *numbers);
  return tensor;
}

static td_status
with_indices(int n, const int64_t *numbers, td_tensor *x, td_reduction reduction,
             td_status (*call)(td_tensor *, td_tensor *, td_reduction, td_tensor **, td_error *),
             td_tensor **out, td_error *error) {
  td_tensor *indices = int_vector(n, numbers);
  td_status status = call(x, indices, reduction, out, error);
  td_tensor_unref(indices);
  return status;
}

static td_status
index_rows(td_tensor *x, td_tensor *indices, td_reduction unused, td_tensor **out,
           td_error *error) {
  return td_op_index(x, indices, out, error);
}

CALL(index, with_indices(DIMS(2, 0, -1, 0), x[0], 0, index_rows, out, error))
CALL(nll_mean, with_indices(DIMS(1, 0, 3), x[0], TD_REDUCTION_MEAN, td_op_nll_loss, out, error))
CALL(nll_sum, with_indices(DIMS(1, -100, 3), x[0], TD_REDUCTION_SUM, td_op_nll_loss, out, error))
CALL(nll_none, with_indices(DIMS(1, 0, 3), x[0], TD_REDUCTION_NONE, td_op_nll_loss, out, error))
CALL(cross_entropy,
     with_indices(DIMS(1, 0, 3), x[0], TD_REDUCTION_MEAN, td_op_cross_entropy, out, error))

static td_status
call_where(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *condition = NULL;
  td_status status = td_op_gt(x[0], x[1], &condition, error);
  if (status == TD_OK) status = td_op_where(condition, x[0], x[1], out, error);
  td_tensor_unref(condition);
  return status;
}

static td_status
call_split(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor **pieces = NULL;
  uint32_t n = 0;
  td_status status = td_op_split(x[0], 2, 1, &pieces, &n, error);
  if (status) return status;
  *out = td_tensor_ref(pieces[n - 1]);
  for (uint32_t i = 0; i < n; i++)
    td_tensor_unref(pieces[i]);
  free(pieces);
  return TD_OK;
}

/* A copying reshape: of a transposed matrix. */
static td_status
call_reshape_copy(td_tensor *const *x, td_tensor **out, td_error *error) {
  td_tensor *transposed = NULL;
  td_status status = td_op_t(x[0], &transposed, error);
  if (status == TD_OK) status = td_op_reshape(transposed, DIMS(-1), out, error);
  td_tensor_unref(transposed);
  return status;
}

static const op_case cases[] = {
    {"neg", "NegBackward0", call_neg, {"2 3"}, -2, 2},
    {"abs", "AbsBackward0", call_abs, {"2 3"}, -2, 2},
    {"sign", "SignBackward0", call_sign, {"2 3"}, -2, 2},
    {"relu", "ReluBackward0", call_relu, {"4 3"}, -2, 2},
    {"reciprocal", "ReciprocalBackward0", call_reciprocal, {"2 3"}, 0.5, 2},
    {"exp", "ExpBackward0", call_exp, {"2 3"}, -2, 2},
    {"log", "LogBackward0", call_log, {"2 3"}, 0.5, 2},
    {"sqrt", "SqrtBackward0", call_sqrt, {""}, 0.5, 2},
    {"sin", "SinBackward0", call_sin, {"2 3"}, -2, 2},
    {"cos", "CosBackward0", call_cos, {"2 1 3"}, -2, 2},
    {"floor", "FloorBackward0", call_floor, {"2 3"}, 0.2, 0.45},
    {"ceil", "CeilBackward0", call_ceil, {"2 3"}, 0.2, 0.45},
    {"round", "RoundBackward0", call_round, {"2 3"}, 0.2, 0.45},
    {"trunc", "TruncBackward0", call_trunc, {"2 3"}, 0.2, 0.45},
    {"frac", "FracBackward0", call_frac, {"2 3"}, 0.2, 0.45},
    {"exp2", "Exp2Backward0", call_exp2, {"2 3"}, 0.2, 0.45},
    {"expm1", "Expm1Backward0", call_expm1, {"2 3"}, 0.2, 0.45},
    {"log2", "Log2Backward0", call_log2, {"2 3"}, 0.2, 0.45},
    {"log10", "Log10Backward0", call_log10, {"2 3"}, 0.2, 0.45},
    {"log1p", "Log1PBackward0", call_log1p, {"2 3"}, 0.2, 0.45},
    {"rsqrt", "RsqrtBackward0", call_rsqrt, {"2 3"}, 0.2, 0.45},
    {"tan", "TanBackward0", call_tan, {"2 3"}, 0.2, 0.45},
    {"asin", "AsinBackward0", call_asin, {"2 3"}, 0.2, 0.45},
    {"acos", "AcosBackward0", call_acos, {"2 3"}, 0.2, 0.45},
    {"atan", "AtanBackward0", call_atan, {"2 3"}, 0.2, 0.45},
    {"sinh", "SinhBackward0", call_sinh, {"2 3"}, 0.2, 0.45},
    {"cosh", "CoshBackward0", call_cosh, {"2 3"}, 0.2, 0.45},
    {"asinh", "AsinhBackward0", call_asinh, {"2 3"}, 0.2, 0.45},
    {"acosh", "AcoshBackward0", call_acosh, {"2 3"}, 1.2, 3},
    {"atanh", "AtanhBackward0", call_atanh, {"2 3"}, 0.2, 0.45},
    {"erf", "ErfBackward0", call_erf, {"2 3"}, 0.2, 0.45},
    {"erfc", "ErfcBackward0", call_erfc, {"2 3"}, 0.2, 0.45},
    {"tanh", "TanhBackward0", call_tanh, {"2 3"}, -2, 2},
    {"sigmoid", "SigmoidBackward0", call_sigmoid, {"5"}, -2, 2},
    {"add", "AddBackward0", call_add, {"2 3", "2 3"}, -2, 2},
    {"add-row", "AddBackward0", call_add, {"2 3", "3"}, -2, 2},
    {"add-outer", "AddBackward0", call_add, {"2 1", "1 3"}, -2, 2},
    {"add-alpha", "AddBackward0", call_add_alpha, {"", "2 3"}, -2, 2},
    {"add-self", "AddBackward0", call_add_self, {"2 3"}, -2, 2},
    {"sub", "SubBackward0", call_sub, {"2 3", "2 1"}, -2, 2},
    {"sub-alpha", "SubBackward0", call_sub_alpha, {"3", "2 3"}, -2, 2},
    {"rsub", "RsubBackward1", call_rsub, {"2 3"}, -2, 2},
    {"mul", "MulBackward0", call_mul, {"2 3", "2 3"}, -2, 2},
    {"mul-scalar", "MulBackward0", call_mul, {"2 3", ""}, -2, 2},
    {"mul-broadcast", "MulBackward0", call_mul, {"4 1 3", "2 1"}, -2, 2},
    {"mul-self", "MulBackward0", call_mul_self, {"3"}, -2, 2},
    {"div", "DivBackward0", call_div, {"2 3", "3"}, 0.5, 2},
    {"pow-2", "PowBackward0", call_square, {"2 3"}, -2, 2},
    {"pow-3", "PowBackward0", call_cube, {"2 3"}, -2, 2},
    {"pow-half", "PowBackward0", call_root, {"2 3"}, 0.5, 2},
    {"pow-inverse", "PowBackward0", call_inverse, {"2 3"}, 0.5, 2},
    {"pow-0", "PowBackward0", call_zeroth, {"2 3"}, 0.5, 2},
    {"pow", "PowBackward1", call_pow, {"2 3", "3"}, 0.5, 2},
    {"where", "WhereBackward0", call_where, {"2 3", "3"}, -2, 2},
    {"sum", "SumBackward0", call_sum, {"2 3"}, -2, 2},
    {"sum-scalar", "SumBackward0", call_sum, {""}, -2, 2},
    {"sum-dims", "SumBackward1", call_sum_dims, {"2 3 4"}, -2, 2},
    {"sum-keepdim", "SumBackward1", call_sum_keep, {"2 3 4"}, -2, 2},
    {"mean", "MeanBackward0", call_mean, {"2 3"}, -2, 2},
    {"mean-dims", "MeanBackward1", call_mean_dims, {"2 3 4"}, -2, 2},
    {"max", "MaxBackward1", call_max, {"2 3"}, -2, 2},
    {"view", "ViewBackward0", call_view, {"2 3 2"}, -2, 2, .contiguous = true},
    {"reshape", "ViewBackward0", call_reshape, {"2 3 2"}, -2, 2},
    {"reshape-copy", "UnsafeViewBackward0", call_reshape_copy, {"2 3"}, -2, 2},
    {"flatten", "ViewBackward0", call_flatten, {"2 3 2"}, -2, 2},
    {"t", "TBackward0", call_t, {"2 3"}, -2, 2},
    {"t-vector", "TBackward0", call_t, {"3"}, -2, 2},
    {"transpose", "TransposeBackward0", call_transpose, {"2 3 4"}, -2, 2},
    {"permute", "PermuteBackward0", call_permute, {"2 3 4"}, -2, 2},
    {"expand", "ExpandBackward0", call_expand, {"2 1"}, -2, 2},
    {"unsqueeze", "UnsqueezeBackward0", call_unsqueeze, {"2 3"}, -2, 2},
    {"squeeze", "SqueezeBackward0", call_squeeze, {"1 2 1 3"}, -2, 2},
    {"squeeze-dim", "SqueezeBackward1", call_squeeze_dim, {"1 1 3"}, -2, 2},
    {"select", "SelectBackward0", call_select, {"2 3 4"}, -2, 2},
    {"slice", "SliceBackward0", call_slice, {"2 6 2"}, -2, 2},
    {"index", "IndexBackward0", call_index, {"3 4"}, -2, 2},
    {"clone", "CloneBackward0", call_clone, {"2 3"}, -2, 2},
    {"split", "SplitBackward0", call_split, {"2 5"}, -2, 2},
    {"cat", "CatBackward0", call_cat, {"2 3", "2 1"}, -2, 2},
    {"stack", "StackBackward0", call_stack, {"2 3", "2 3"}, -2, 2},
    {"mm", "MmBackward0", call_mm, {"5 3", "3 9"}, -2, 2},
    {"mm-empty-sum", "MmBackward0", call_mm, {"2 0", "0 3"}, -2, 2},
    {"mv", "MvBackward0", call_mv, {"5 3", "3"}, -2, 2},
    {"dot", "DotBackward0", call_dot, {"5", "5"}, -2, 2},
    {"bmm", "BmmBackward0", call_bmm, {"2 3 4", "2 4 5"}, -2, 2},
    {"addmm", "AddmmBackward0", call_addmm, {"4", "2 3", "3 4"}, -2, 2},
    {"addmm-column", "AddmmBackward0", call_addmm, {"2 1", "2 3", "3 4"}, -2, 2},
    {"matmul-vector-matrix", "SqueezeBackward4", call_matmul, {"3", "3 4"}, -2, 2},
    {"matmul-folded", "UnsafeViewBackward0", call_matmul, {"2 3 4", "4 5"}, -2, 2},
    {"matmul-folded-vector", "UnsafeViewBackward0", call_matmul, {"2 3 4", "4"}, -2, 2},
    {"matmul-vector-batch", "UnsafeViewBackward0", call_matmul, {"3", "2 3 4"}, -2, 2},
    {"matmul-broadcast", "UnsafeViewBackward0", call_matmul, {"2 1 3 4", "5 4 2"}, -2, 2},
    {"linear", "AddmmBackward0", call_linear, {"2 3", "4 3", "4"}, -2, 2},
    {"linear-batch", "ViewBackward0", call_linear, {"2 3 4", "5 4", "5"}, -2, 2},
    {"linear-vector", "ViewBackward0", call_linear, {"3", "4 3", "4"}, -2, 2},
    {"linear-without-bias", "MmBackward0", call_linear_plain, {"2 3", "4 3"}, -2, 2},
    {"conv2d", "ConvolutionBackward0", call_conv2d, {"2 3 5 4", "2 3 3 2", "2"}, -2, 2},
    {"conv2d-padded", "ConvolutionBackward0", call_conv2d_wide, {"2 2 5 4", "3 2 3 3"}, -2, 2},
    {"conv2d-groups",
     "ConvolutionBackward0",
     call_conv2d_groups,
     {"2 4 5 4", "6 2 3 2", "6"},
     -2,
     2},
    {"conv2d-point", "ConvolutionBackward0", call_conv2d_point, {"2 4 3 2", "3 4 1 1"}, -2, 2},
    {"conv2d-image", "SqueezeBackward1", call_conv2d, {"3 5 4", "2 3 3 2", "2"}, -2, 2},
    {"conv1d", "ConvolutionBackward0", call_conv1d, {"2 3 5", "2 3 3", "2"}, -2, 2},
    {"conv-transpose2d",
     "ConvolutionBackward0",
     call_conv_transpose2d,
     {"2 4 3 2", "4 1 3 2", "2"},
     -2,
     2},
    {"batch-norm", "NativeBatchNormBackward0", call_batch_norm, {"3 2 2 2", "2", "2"}, -2, 2},
    {"batch-norm-lines", "NativeBatchNormBackward0", call_batch_norm, {"5 3", "3", "3"}, -2, 2},
    {"batch-norm-given",
     "NativeBatchNormBackward0",
     call_batch_norm_given,
     {"3 2 2 2", "2", "2"},
     -2,
     2},
    {"layer-norm", "NativeLayerNormBackward0", call_layer_norm, {"2 2 3 2", "3 2", "3 2"}, -2, 2},
    {"layer-norm-plain", "NativeLayerNormBackward0", call_layer_norm_plain, {"3 4"}, -2, 2},
    {"group-norm", "NativeGroupNormBackward0", call_group_norm, {"2 4 3", "4", "4"}, -2, 2},
    {"avg-pool2d", "AvgPool2DBackward0", call_avg_pool2d, {"2 2 5 4"}, -2, 2},
    {"adaptive-avg-pool2d",
     "AdaptiveAvgPool2DBackward0",
     call_adaptive_avg_pool2d,
     {"2 5 4"},
     -2,
     2},
    {"max-pool2d", "MaxPool2DWithIndicesBackward0", call_max_pool2d, {"2 2 5 4"}, -2, 2},
    {"max-pool2d-padded", "MaxPool2DWithIndicesBackward0", call_max_pool2d_pad, {"1 2 4 5"}, -2, 2},
    {"softmax", "SoftmaxBackward0", call_softmax, {"2 3"}, -2, 2},
    {"softmax-first", "SoftmaxBackward0", call_softmax_first, {"3 2 2"}, -2, 2},
    {"log-softmax", "LogSoftmaxBackward0", call_log_softmax, {"2 3"}, -2, 2},
    {"nll-mean", "NllLossBackward0", call_nll_mean, {"3 4"}, -2, 2},
    {"nll-sum-ignored", "NllLossBackward0", call_nll_sum, {"3 4"}, -2, 2},
    {"nll-none", "NllLossBackward0", call_nll_none, {"3 4"}, -2, 2},
    {"cross-entropy", "NllLossBackward0", call_cross_entropy, {"3 4"}, -2, 2},
    {"mse-mean", "MseLossBackward0", call_mse_mean, {"2 3", "2 3"}, -2, 2},
    {"mse-broadcast", "MseLossBackward0", call_mse_mean, {"2 3", "3"}, -2, 2},
    {"mse-sum", "MseLossBackward0", call_mse_sum, {"2 3", "2 3"}, -2, 2},
    {"mse-none", "MseLossBackward0", call_mse_none, {"2 3", "2 3"}, -2, 2},
};

#define assert_ok(call, error)                                                                     \
  do {                                                                                             \
    if ((call) != TD_OK) g_error("%s: %s", #call, td_error_text(error));                           \
  } while (0)

static int
parse_shape(const char *text, int64_t *sizes) {
  int n_dims = 0;
  char *end;
  for (; *text; text = end)
    sizes[n_dims++] = strtol(text, &end, 10);
  return n_dims;
}

static td_tensor *
new_tensor(const char *shape) {
  int64_t sizes[TD_MAX_DIMS];
  int n_dims = parse_shape(shape, sizes);
  td_error error = {0};
  td_tensor *tensor = NULL;
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, n_dims, sizes, &tensor, &error), &error);
  return tensor;
}

/* The same sizes with the dimensions in reverse order in memory and a gap after every element. */
static td_tensor *
new_strided(const char *shape) {
  int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], stride = 2;
  int n_dims = parse_shape(shape, sizes);
  for (int dim = 0; dim < n_dims; stride *= sizes[dim++])
    strides[dim] = stride;
  td_error error = {0};
  td_tensor *storage = NULL;
  assert_ok(td_tensor_new(TD_FLOAT64, TD_CPU, 1, (int64_t[]){stride + 1}, &storage, &error),
            &error);
  td_tensor *tensor = td_tensor_new_view(storage, n_dims, sizes, strides, 1);
  td_tensor_unref(storage);
  return tensor;
}

/* Reproducible and distinct. */
static double
some_number(uint32_t seed, int64_t i) {
  return fmod((double)(seed * 7 + i + 1) * 0.6180339887498949, 1.0);
}

typedef struct fixture {
  const op_case *op;
  int n;
  td_tensor *x[MAX_INPUTS];
} fixture;

static void
fixture_init(fixture *f, const op_case *op, bool strided) {
  *f = (fixture){.op = op};
  for (; f->n < MAX_INPUTS && op->shapes[f->n]; f->n++) {
    td_tensor *x = strided ? new_strided(op->shapes[f->n]) : new_tensor(op->shapes[f->n]);
    for (int64_t i = 0; i < td_tensor_n_elements(x); i++)
      td_tensor_set(x, i, op->low + (op->high - op->low) * some_number((uint32_t)f->n, i));
    assert_ok(td_set_requires_grad(x, true, NULL), &(td_error){0});
    f->x[f->n] = x;
  }
}

static void
fixture_fini(fixture *f) {
  for (int i = 0; i < f->n; i++)
    td_tensor_unref(f->x[i]);
}

/* sum(x * fixed numbers): a scalar that depends on each element differently. */
static td_tensor *
weigh(td_tensor *x, uint32_t seed) {
  td_error error = {0};
  td_tensor *weights = NULL, *product = NULL, *sum = NULL;
  assert_ok(td_tensor_new_like(x, &weights, &error), &error);
  for (int64_t i = 0; i < td_tensor_n_elements(x); i++)
    td_tensor_set(weights, i, 0.5 + some_number(seed, i));
  assert_ok(td_op_mul(x, weights, &product, &error), &error);
  assert_ok(td_op_sum(product, &sum, &error), &error);
  td_tensor_unref(weights);
  td_tensor_unref(product);
  return sum;
}

static td_tensor *
loss_of(const fixture *f) {
  td_error error = {0};
  td_tensor *out = NULL;
  assert_ok(f->op->call(f->x, &out, &error), &error);
  td_tensor *loss = weigh(out, 11);
  td_tensor_unref(out);
  return loss;
}

/* The gradients of a scalar with regard to the inputs; new references or NULL. */
static td_status
gradients_of(td_tensor *scalar, const fixture *f, bool create_graph, td_tensor **gradients,
             td_error *error) {
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, 1);
  td_edge root = td_gradient_edge(scalar), edges[MAX_INPUTS];
  for (int i = 0; i < f->n; i++)
    edges[i] = td_gradient_edge(f->x[i]);
  td_execute_options options = {.keep_graph = create_graph,
                                .create_graph = create_graph,
                                .outputs = edges,
                                .n_outputs = (uint32_t)f->n};
  td_status status =
      td_engine_execute(td_engine_default(), &root, &one, 1, &options, gradients, error);
  for (int i = 0; i < f->n; i++)
    td_node_unref(edges[i].node);
  td_node_unref(root.node);
  td_tensor_unref(one);
  return status;
}

static double
loss_value(const fixture *f) {
  td_grad_mode_set(false);
  td_tensor *loss = loss_of(f);
  td_grad_mode_set(true);
  double value = td_tensor_item(loss);
  td_tensor_unref(loss);
  return value;
}

/* The scalar sum over inputs of weigh(gradient), with history. NULL where no gradient has any. */
static td_tensor *
gradient_scalar(const fixture *f, bool create_graph) {
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL}, *loss = loss_of(f), *total = NULL;
  assert_ok(gradients_of(loss, f, create_graph, gradients, &error), &error);
  td_tensor_unref(loss);
  for (int i = 0; i < f->n; i++) {
    td_tensor *part = weigh(gradients[i], 23 + (uint32_t)i), *sum = NULL;
    if (total) assert_ok(td_op_add(total, part, 1, &sum, &error), &error);
    td_tensor_unref(total);
    total = sum ? sum : td_tensor_ref(part);
    td_tensor_unref(part);
    td_tensor_unref(gradients[i]);
  }
  return total;
}

static double
gradient_value(const fixture *f) {
  td_tensor *scalar = gradient_scalar(f, false);
  double value = td_tensor_item(scalar);
  td_tensor_unref(scalar);
  return value;
}

/* (value(x + h) - value(x - h)) / 2h */
static double
slope(const fixture *f, double (*value)(const fixture *), td_tensor *x, int64_t i) {
  const double h = 1e-5, old = td_tensor_get(x, i);
  td_tensor_set(x, i, old + h);
  double above = value(f);
  td_tensor_set(x, i, old - h);
  double below = value(f);
  td_tensor_set(x, i, old);
  return (above - below) / (2 * h);
}

static void
compare_with_slopes(const fixture *f, double (*value)(const fixture *),
                    td_tensor *const *gradients) {
  for (int input = 0; input < f->n; input++) {
    td_tensor *x = f->x[input], *gradient = gradients[input];
    if (gradient) g_assert_true(td_tensor_same_sizes(x, gradient));
    for (int64_t i = 0; i < td_tensor_n_elements(x); i++) {
      double expected = slope(f, value, x, i), got = gradient ? td_tensor_get(gradient, i) : 0;
      if (fabs(expected - got) > 1e-6 * (1 + fabs(expected)))
        g_error("%s: gradient of input %d at %d is %g, the slope is %g", f->op->name, input, (int)i,
                got, expected);
    }
  }
}

static void
unref_all(int n, td_tensor **tensors) {
  for (int i = 0; i < n; i++)
    td_tensor_unref(tensors[i]);
}

static void
test_gradient(const void *data) {
  const op_case *op = data;
  for (int strided = 0; strided < (op->contiguous ? 1 : 2); strided++) {
    fixture f;
    td_error error = {0};
    td_tensor *gradients[MAX_INPUTS] = {NULL};
    fixture_init(&f, op, strided);
    td_tensor *loss = loss_of(&f);
    assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
    compare_with_slopes(&f, loss_value, gradients);
    td_tensor_unref(loss);
    unref_all(f.n, gradients);
    fixture_fini(&f);
  }
}

static void
test_second_gradient(const void *data) {
  fixture f;
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL};
  fixture_init(&f, data, false);
  td_tensor *scalar = gradient_scalar(&f, true);
  if (f.op->once) {
    g_assert_cmpint(gradients_of(scalar, &f, false, gradients, &error), ==, TD_UNSUPPORTED);
    td_error_clear(&error);
  } else {
    if (td_requires_grad(scalar))
      assert_ok(gradients_of(scalar, &f, false, gradients, &error), &error);
    compare_with_slopes(&f, gradient_value, gradients);
  }
  td_tensor_unref(scalar);
  unref_all(f.n, gradients);
  fixture_fini(&f);
}

static void
test_node_name(const void *data) {
  fixture f;
  td_error error = {0};
  td_tensor *out = NULL;
  fixture_init(&f, data, false);
  assert_ok(f.op->call(f.x, &out, &error), &error);
  g_assert_cmpstr(td_node_name(td_grad_fn(out)), ==, f.op->node);
  td_tensor_unref(out);
  out = NULL;
  td_grad_mode_set(false);
  assert_ok(f.op->call(f.x, &out, &error), &error);
  td_grad_mode_set(true);
  g_assert_null(td_grad_fn(out));
  g_assert_true(td_requires_grad(out) == (out->base && td_requires_grad(out->base)));
  td_tensor_unref(out);
  fixture_fini(&f);
}

/* float32 goes through kernels of its own: they must agree with float64's. */
static void
test_float32(const void *data) {
  fixture f, single;
  td_error error = {0};
  td_tensor *expected = NULL, *got = NULL;
  fixture_init(&f, data, false);
  single = f;
  for (int i = 0; i < f.n; i++)
    assert_ok(td_op_to_dtype(f.x[i], TD_FLOAT32, &single.x[i], &error), &error);
  assert_ok(f.op->call(f.x, &expected, &error), &error);
  assert_ok(f.op->call(single.x, &got, &error), &error);
  g_assert_cmpint(got->dtype, ==, TD_FLOAT32);
  g_assert_true(td_tensor_same_sizes(got, expected));
  for (int64_t i = 0; i < td_tensor_n_elements(got); i++)
    g_assert_cmpfloat_with_epsilon(td_tensor_get(got, i), td_tensor_get(expected, i), 2e-5);
  td_tensor_unref(expected);
  td_tensor_unref(got);
  fixture_fini(&single);
  fixture_fini(&f);
}

typedef struct failure {
  const char *name;
  op_call call;
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
     call_add,
     {"3 2", "4 2"},
     TD_SHAPE,
     "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"},
    {"mm",
     call_mm,
     {"2 3", "4 5"},
     TD_SHAPE,
     "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"},
    {"linear",
     call_linear,
     {"2 3", "4 5", "4"},
     TD_SHAPE,
     "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)"},
    {"mm-dtypes",
     call_mixed_dtypes,
     {"2 3", "3 2"},
     TD_DTYPE,
     "expected scalar type Float but found Double"},
    {"devices",
     call_mixed_devices,
     {"2 3", "2 3"},
     TD_DEVICE,
     "Expected all tensors to be on the same device, but found at least two devices, sim:0 and "
     "cpu!"},
    {"dot", call_dot, {"3", "4"}, TD_SHAPE, "inconsistent tensor size"},
    {"bmm",
     call_bmm,
     {"2 3 4", "2 3 4"},
     TD_SHAPE,
     "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]."},
    {"matmul-scalar", call_matmul, {"", "2 3"}, TD_SHAPE, "0D and 2D"},
    {"view", call_view_bad, {"2 3"}, TD_SHAPE, "shape '[4, -1]' is invalid for input of size 6"},
    {"view-unknown",
     call_view_two_unknown,
     {"2 3"},
     TD_SHAPE,
     "only one dimension can be inferred"},
    {"view-strides",
     call_view_transposed,
     {"2 3"},
     TD_SHAPE,
     "view size is not compatible with input tensor's size and stride"},
    {"expand",
     call_expand_bad,
     {"2 3"},
     TD_SHAPE,
     "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
     "dimension 1."},
    {"t", call_t, {"2 3 4"}, TD_SHAPE, "t() expects a tensor with <= 2 dimensions, but self is 3D"},
    {"select",
     call_select_bad,
     {"2 3"},
     TD_OUT_OF_RANGE,
     "index 2 is out of bounds for dimension 0 with size 2"},
    {"dimension",
     call_sum_bad,
     {"2 3"},
     TD_OUT_OF_RANGE,
     "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
    {"dimension-twice",
     call_sum_twice,
     {"2 3"},
     TD_INVALID,
     "dim 0 appears multiple times in the list of dims"},
    {"permute", call_permute_twice, {"2 3"}, TD_INVALID, "duplicate dims"},
    {"index",
     call_index_bad,
     {"2 3"},
     TD_OUT_OF_RANGE,
     "index 7 is out of bounds for dimension 0 with size 2"},
    {"target", call_nll_bad, {"2 3"}, TD_OUT_OF_RANGE, "Target 7 is out of bounds."},
    {"batch",
     call_cross_entropy,
     {"2 4"},
     TD_VALUE,
     "Expected input batch_size (2) to match target batch_size (3)."},
    {"cat",
     call_cat,
     {"2 3", "3 1"},
     TD_SHAPE,
     "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor "
     "number 1 in the list."},
    {"conv2d-channels",
     call_conv2d,
     {"1 2 5 5", "2 3 3 3", "2"},
     TD_SHAPE,
     "to have 3 channels, but got 2 channels instead"},
    {"conv2d-kernel",
     call_conv2d,
     {"1 3 2 5", "2 3 3 3", "2"},
     TD_SHAPE,
     "Kernel size can't be greater than actual input size"},
    {"max-empty", call_max, {"0"}, TD_INVALID, "Expected reduction dim to be specified"},
    {"mse",
     call_mse_mean,
     {"2 3", "3 2"},
     TD_SHAPE,
     "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"},
    {"stack",
     call_stack,
     {"2 3", "2 1"},
     TD_SHAPE,
     "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [2, 1] at entry 1"},
};

static void
test_failure(const void *data) {
  const failure *expected = data;
  td_tensor *x[MAX_INPUTS] = {NULL}, *out = NULL;
  td_error error = {0};
  for (int i = 0; i < MAX_INPUTS && expected->shapes[i]; i++)
    x[i] = new_tensor(expected->shapes[i]);
  g_assert_cmpint(expected->call(x, &out, &error), ==, expected->status);
  g_assert_null(out);
  if (!strstr(td_error_text(&error), expected->text))
    g_error("expected \"%s\" in \"%s\"", expected->text, td_error_text(&error));
  td_error_clear(&error);
  unref_all(MAX_INPUTS, x);
}

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
    op_call call;
    const char *shapes[MAX_INPUTS];
    const char *result;
  } empty[] = {
      {call_add, {"0 3", "3"}, "0 3"},
      {call_exp, {"0"}, "0"},
      {call_sum, {"0 3"}, ""},
      {call_mm, {"0 3", "3 2"}, "0 2"},
      {call_mm, {"2 3", "3 0"}, "2 0"},
      {call_softmax, {"0 3"}, "0 3"},
      {call_conv2d, {"0 3 5 5", "2 3 3 3", "2"}, "0 2 3 3"},
      {call_max_pool2d, {"0 2 4 4"}, "0 2 2 2"},
      {call_cat, {"2 0", "2 3"}, "2 3"},
      {call_permute, {"0 2 3"}, "3 0 2"},
      {call_clone, {"2 0 3"}, "2 0 3"},
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(empty); i++) {
    op_case op = {.name = "empty", .call = empty[i].call, .low = -2, .high = 2};
    memcpy(op.shapes, empty[i].shapes, sizeof op.shapes);
    fixture f;
    td_tensor *out = NULL, *gradients[MAX_INPUTS] = {NULL};
    int64_t sizes[TD_MAX_DIMS];
    int n_dims = parse_shape(empty[i].result, sizes);
    fixture_init(&f, &op, false);
    assert_ok(op.call(f.x, &out, &error), &error);
    assert_sizes(out, n_dims, sizes);
    td_tensor *loss = loss_of(&f);
    assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
    for (int input = 0; input < f.n; input++)
      g_assert_true(td_tensor_same_sizes(gradients[input], f.x[input]));
    td_tensor_unref(loss);
    td_tensor_unref(out);
    unref_all(f.n, gradients);
    fixture_fini(&f);
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

/* A constant takes an edge but no gradient: Mul has two outputs, the second to nowhere. */
static void
test_constant_edge(void) {
  td_tensor *x = new_tensor("2"), *out = NULL;
  td_error error = {0};
  assert_ok(td_set_requires_grad(x, true, &error), &error);
  td_tensor *two = td_op_scalar(x, 2, true);
  g_assert_cmpint(two->dtype, ==, TD_FLOAT64);
  assert_ok(td_op_mul(x, two, &out, &error), &error);
  td_node *node = td_grad_fn(out);
  g_assert_cmpuint(node->n_outputs, ==, 2);
  g_assert_nonnull(node->next_edges[0].node);
  g_assert_null(node->next_edges[1].node);
  unref_all(3, (td_tensor *[]){x, two, out});
}

static void
test_linear_order(void) {
  fixture f;
  td_error error = {0};
  td_tensor *out = NULL;
  op_case op = {.call = call_linear, .shapes = {"2 3", "4 3", "4"}, .low = -1, .high = 1};
  fixture_init(&f, &op, false);
  assert_ok(op.call(f.x, &out, &error), &error);
  const td_node *addmm = td_grad_fn(out), *t = addmm->next_edges[2].node;
  g_assert_cmpstr(td_node_name(t), ==, "TBackward0");
  g_assert_cmpuint(addmm->sequence_nr, ==, t->sequence_nr + 1);
  td_tensor_unref(out);
  fixture_fini(&f);
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

typedef struct pass {
  const fixture *f;
  td_tensor *loss;
  td_status status;
} pass;

static void *
run_pass(void *data) {
  pass *own = data;
  td_tensor *gradients[MAX_INPUTS] = {NULL};
  own->status = gradients_of(own->loss, own->f, false, gradients, NULL);
  for (int i = 0; i < own->f->n; i++)
    if (own->status == TD_OK) g_assert_true(td_tensor_same_sizes(own->f->x[i], gradients[i]));
  unref_all(own->f->n, gradients);
  return NULL;
}

/* Two passes over one graph at once, both of which release what was saved: each gets its gradients,
 * or hears that they are gone. */
static void
test_release_while_used(void) {
  for (int round = 0; round < 50; round++) {
    fixture f;
    op_case op = {.call = call_div, .shapes = {"2 3", "3"}, .low = 1, .high = 2};
    fixture_init(&f, &op, false);
    td_tensor *loss = loss_of(&f);
    pass passes[2] = {{.f = &f, .loss = loss}, {.f = &f, .loss = loss}};
    pthread_t thread;
    g_assert_cmpint(pthread_create(&thread, NULL, run_pass, &passes[0]), ==, 0);
    run_pass(&passes[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
      g_assert_true(passes[i].status == TD_OK || passes[i].status == TD_AUTOGRAD);
    td_tensor_unref(loss);
    fixture_fini(&f);
  }
}

/* Equal largest elements share the gradient, and so do NaNs. */
static void
test_max_ties(void) {
  const double values[][3] = {{2, 1, 2}, {NAN, 1, NAN}};
  for (int i = 0; i < 2; i++) {
    fixture f;
    td_error error = {0};
    td_tensor *gradients[MAX_INPUTS] = {NULL}, *out = NULL;
    op_case op = {.call = call_max, .shapes = {"3"}};
    fixture_init(&f, &op, false);
    for (int j = 0; j < 3; j++)
      td_tensor_set(f.x[0], j, values[i][j]);
    assert_ok(op.call(f.x, &out, &error), &error);
    assert_ok(gradients_of(out, &f, false, gradients, &error), &error);
    assert_elements(gradients[0], NUMBERS(0.5, 0, 0.5));
    td_tensor_unref(out);
    unref_all(f.n, gradients);
    fixture_fini(&f);
  }
}

/* Where relu is off, not even a NaN gradient passes; sqrt's slope at 0 is infinite: as in PyTorch.
 */
static void
test_special_gradients(void) {
  td_error error = {0};
  td_tensor *gradients[MAX_INPUTS] = {NULL}, *out = NULL, *scaled = NULL;
  fixture f;
  op_case op = {.call = call_relu, .shapes = {"2"}};
  fixture_init(&f, &op, false);
  td_tensor_set(f.x[0], 0, -1);
  td_tensor_set(f.x[0], 1, 1);
  td_tensor *nan = td_tensor_new_scalar(TD_FLOAT64, TD_CPU, NAN);
  assert_ok(op.call(f.x, &out, &error), &error);
  assert_ok(td_op_mul(out, nan, &scaled, &error), &error);
  td_tensor *loss = weigh(scaled, 1);
  assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
  g_assert_cmpfloat(td_tensor_get(gradients[0], 0), ==, 0);
  g_assert_true(isnan(td_tensor_get(gradients[0], 1)));
  unref_all(5, (td_tensor *[]){nan, out, scaled, loss, gradients[0]});
  fixture_fini(&f);

  op_case root = {.call = call_sqrt, .shapes = {""}};
  fixture_init(&f, &root, false);
  td_tensor_set(f.x[0], 0, 0);
  loss = loss_of(&f);
  assert_ok(gradients_of(loss, &f, false, gradients, &error), &error);
  g_assert_true(isinf(td_tensor_item(gradients[0])));
  unref_all(2, (td_tensor *[]){loss, gradients[0]});
  fixture_fini(&f);
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
  assert_ok(td_op_rand(TD_FLOAT32, TD_CPU, DIMS(3), &uniform, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randn(TD_FLOAT32, TD_CPU, DIMS(3), &few, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randn(TD_FLOAT32, TD_CPU, DIMS(17), &many, &error), &error);
  td_manual_seed(0);
  assert_ok(td_op_randperm(10, &order, &error), &error);
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
  for (size_t i = 0; i < TD_N_ELEMENTS(cases); i++) {
    const struct {
      const char *path;
      void (*test)(const void *);
    } kinds[] = {{"gradient", test_gradient},
                 {"second-gradient", test_second_gradient},
                 {"node-name", test_node_name},
                 {"float32", test_float32}};
    for (size_t kind = 0; kind < TD_N_ELEMENTS(kinds); kind++) {
      char *path = td_format("/engine/ops/%s/%s", kinds[kind].path, cases[i].name);
      g_test_add_data_func(path, &cases[i], kinds[kind].test);
      free(path);
    }
  }
  for (size_t i = 0; i < TD_N_ELEMENTS(failures); i++) {
    char *path = td_format("/engine/ops/failure/%s", failures[i].name);
    g_test_add_data_func(path, &failures[i], test_failure);
    free(path);
  }
  g_test_add_func("/engine/ops/zero-sizes", test_zero_sizes);
  g_test_add_func("/engine/ops/promotion", test_promotion);
  g_test_add_func("/engine/ops/constant-edge", test_constant_edge);
  g_test_add_func("/engine/ops/linear-order", test_linear_order);
  g_test_add_func("/engine/ops/views-share", test_views_share);
  g_test_add_func("/engine/ops/in-place", test_in_place);
  g_test_add_func("/engine/ops/compare", test_compare);
  g_test_add_func("/engine/ops/argmax", test_argmax);
  g_test_add_func("/engine/ops/release-while-used", test_release_while_used);
  g_test_add_func("/engine/ops/max-ties", test_max_ties);
  g_test_add_func("/engine/ops/special-gradients", test_special_gradients);
  g_test_add_func("/engine/ops/random-streams", test_random_streams);
  return g_test_run();
}
