/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/ops/op_table.h"

#include "engine/base/alloc.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/nn/attention.h"
#include "engine/torch/ops/nn/convolution.h"
#include "engine/torch/ops/nn/normalization.h"
#include "engine/torch/ops/nn/pooling.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/kernels.h"

#include <glib.h>
#include <string.h>

#define TD_UNARY(name, ...) CALL(name, td_op_##name(x[0], out, error))
#include "engine/torch/ops/pointwise/unary.def"
#include "engine/torch/tensor/factories.h"
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
#define ATTENTION(...)                                                                             \
  (&(td_attention){.query = x[0], .key = x[1], .value = x[2], .scale = 0.7, __VA_ARGS__})
CALL(attention, td_op_attention(ATTENTION(.is_causal = false), out, error))
CALL(attention_causal, td_op_attention(ATTENTION(.is_causal = true), out, error))
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

td_status
with_indices(int n, const int64_t *numbers, td_tensor *x, td_reduction reduction, indexed_call call,
             td_tensor **out, td_error *error) {
  td_tensor *indices = int_vector(n, numbers);
  td_status status = call(x, indices, reduction, out, error);
  td_tensor_unref(indices);
  return status;
}

td_status
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
    {"sgn", "SgnBackward0", call_sgn, {"2 3"}, 0.5, 2},
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
    {"erfinv", "ErfinvBackward0", call_erfinv, {"2 3"}, 0.2, 0.45},
    {"lgamma", "LgammaBackward0", call_lgamma, {"2 3"}, 0.2, 0.45},
    {"digamma", "DigammaBackward0", call_digamma, {"2 3"}, 0.2, 0.45, .once = true},
    {"rad2deg", "Rad2DegBackward0", call_rad2deg, {"2 3"}, 0.2, 0.45},
    {"deg2rad", "Deg2RadBackward0", call_deg2rad, {"2 3"}, 0.2, 0.45},
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
    {"linear-batch", "UnsafeViewBackward0", call_linear, {"2 3 4", "5 4", "5"}, -2, 2},
    {"linear-vector", "UnsafeViewBackward0", call_linear, {"3", "4 3", "4"}, -2, 2},
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
    {"attention",
     "ScaledDotProductFlashAttentionForCpuBackward0",
     call_attention,
     {"2 2 3 2", "2 2 4 2", "2 2 4 2"},
     -2,
     2,
     .once = true},
    {"attention-causal",
     "ScaledDotProductFlashAttentionForCpuBackward0",
     call_attention_causal,
     {"1 4 3 2", "1 2 3 2", "1 2 3 2"},
     -2,
     2,
     .once = true},
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

const op_case *
op_cases(size_t *n) {
  *n = TD_N_ELEMENTS(cases);
  return cases;
}

const op_case *
op_case_find(const char *name) {
  for (size_t i = 0; i < TD_N_ELEMENTS(cases); i++)
    if (!strcmp(cases[i].name, name)) return &cases[i];
  g_error("there is no operation %s in the table", name);
}
