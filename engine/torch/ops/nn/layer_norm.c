/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * layer_norm and group_norm: each row of neighbouring elements is normalized by itself. They differ
 * in which element of weight and bias an element of a row meets. */
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/nn/normalization.h"
#include "engine/torch/ops/nn/normalize.h"
#include "engine/torch/ops/reduction/moments.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/pass/exec_info.h"

#include <math.h>

enum { INPUT, WEIGHT, BIAS, N_OPERANDS };

/* Rows of n_affine runs of `span` elements; a run meets one element of weight and bias: row r those
 * from r % groups * n_affine on. layer_norm: groups 1, span 1. */
typedef struct rows {
  int64_t n_rows, groups, n_affine, span;
} rows;

typedef struct row_norm_node {
  td_op_node op; /* saves input, weight, mean */
  td_saved_variable invstd, bias;
  rows rows;
  td_input_metadata affine; /* of weight and bias */
  double eps;
} row_norm_node;

enum { SAVED_INPUT, SAVED_WEIGHT, SAVED_MEAN };

#define ROW_N(r) ((r)->n_affine * (r)->span)

#define DEFINE_ROW_NORM(T)                                                                         \
  static void normalize_##T(const rows *r, const T *x, const T *weight, const T *bias, T mean,     \
                            T invstd, T *out) {                                                    \
    for (int64_t a = 0; a < r->n_affine; a++) {                                                    \
      T scale = weight ? invstd * weight[a] : invstd, shift = bias ? bias[a] : 0;                  \
      for (int64_t i = a * r->span; i < (a + 1) * r->span; i++)                                    \
        out[i] = (x[i] - mean) * scale + shift;                                                    \
    }                                                                                              \
  }                                                                                                \
  /* The sums of g and of g (x - mean) / std, where g = w dy; adds to the gradients of weight and  \
   * bias. */                                                                                      \
  static void sums_##T(const rows *r, const T *dy, const T *x, const T *weight, T mean, T invstd,  \
                       double sums[2], T *dw, T *db) {                                             \
    for (int64_t a = 0; a < r->n_affine; a++) {                                                    \
      T w = weight ? weight[a] : 1, along = 0, plain = 0;                                          \
      for (int64_t i = a * r->span; i < (a + 1) * r->span; i++) {                                  \
        along += dy[i] * (x[i] - mean) * invstd;                                                   \
        plain += dy[i];                                                                            \
      }                                                                                            \
      if (dw) dw[a] += along;                                                                      \
      if (db) db[a] += plain;                                                                      \
      sums[0] += (double)(w * plain);                                                              \
      sums[1] += (double)(w * along);                                                              \
    }                                                                                              \
  }                                                                                                \
  /* dx = (g - mean(g) - n mean(g n)) / std, where n is what was normalized. */                    \
  static void gradient_##T(const rows *r, const T *dy, const T *x, const T *weight, T mean,        \
                           T invstd, const double sums[2], T *dx) {                                \
    T g_mean = (T)(sums[0] / (double)ROW_N(r)), gn_mean = (T)(sums[1] / (double)ROW_N(r));         \
    for (int64_t a = 0; a < r->n_affine; a++) {                                                    \
      T w = weight ? weight[a] : 1;                                                                \
      for (int64_t i = a * r->span; i < (a + 1) * r->span; i++)                                    \
        dx[i] = (w * dy[i] - g_mean - (x[i] - mean) * invstd * gn_mean) * invstd;                  \
    }                                                                                              \
  }                                                                                                \
  static void forward_##T(const rows *r, double eps, const T *x, const T *weight, const T *bias,   \
                          T *mean, T *invstd, T *out) {                                            \
    for (int64_t row = 0; row < r->n_rows; row++, x += ROW_N(r), out += ROW_N(r)) {                \
      int64_t at = row % r->groups * r->n_affine, n = ROW_N(r);                                    \
      td_dtype dtype = sizeof(T) == sizeof(float) ? TD_FLOAT32 : TD_FLOAT64;                       \
      double centre = td_moment_sum(dtype, x, n) / (double)n;                                      \
      double var = td_moment_squares(dtype, x, n, centre) / (double)n;                             \
      mean[row] = (T)centre;                                                                       \
      invstd[row] = (T)(1 / sqrt(var + eps));                                                      \
      normalize_##T(r, x, weight ? weight + at : NULL, bias ? bias + at : NULL, mean[row],         \
                    invstd[row], out);                                                             \
    }                                                                                              \
  }                                                                                                \
  static void backward_##T(const rows *r, const T *dy, const T *x, const T *weight, const T *mean, \
                           const T *invstd, T *dx, T *dw, T *db) {                                 \
    for (int64_t row = 0; row < r->n_rows; row++, x += ROW_N(r), dy += ROW_N(r)) {                 \
      int64_t at = row % r->groups * r->n_affine;                                                  \
      double sums[2] = {0};                                                                        \
      sums_##T(r, dy, x, weight ? weight + at : NULL, mean[row], invstd[row], sums,                \
               dw ? dw + at : NULL, db ? db + at : NULL);                                          \
      if (dx)                                                                                      \
        gradient_##T(r, dy, x, weight ? weight + at : NULL, mean[row], invstd[row], sums,          \
                     dx + row * ROW_N(r));                                                         \
    }                                                                                              \
  }
DEFINE_ROW_NORM(float)
DEFINE_ROW_NORM(double)

static void *
data_or_null(const td_tensor *tensor) {
  return tensor ? td_tensor_data(tensor) : NULL;
}

static td_status
new_zeros(const td_input_metadata *like, bool wanted, td_tensor **out, td_error *error) {
  if (!wanted) return TD_OK;
  td_dtype dtype = td_dtype_compute(like->dtype);
  return td_tensor_new(dtype, like->device, like->n_dims, like->sizes, out, error);
}

static td_status
kernel_gradients(const row_norm_node *node, td_tensor *grad, td_tensor *input, td_tensor *weight,
                 td_tensor *mean, td_tensor *invstd, const bool wanted[N_OPERANDS],
                 td_tensor *out[N_OPERANDS], td_error *error) {
  const rows *r = &node->rows;
  TD_LOCAL(dy);
  TD_LOCAL(x);
  TD_LOCAL(w);
  td_input_metadata like = td_op_metadata(input);
  TD_TRY(td_op_widen_contiguous(grad, &dy, error));
  TD_TRY(td_op_widen_contiguous(input, &x, error));
  TD_TRY(td_op_widen_contiguous(weight, &w, error));
  TD_TRY(new_zeros(&like, wanted[INPUT], &out[INPUT], error));
  TD_TRY(new_zeros(&node->affine, wanted[WEIGHT], &out[WEIGHT], error));
  TD_TRY(new_zeros(&node->affine, wanted[BIAS], &out[BIAS], error));
  if (!TD_LAUNCH("layer_norm_backward", 3, out[INPUT], out[WEIGHT], out[BIAS], dy, x, w, mean,
                 invstd))
    return TD_OK;
  if (x->dtype == TD_FLOAT32)
    backward_float(r, td_tensor_data(dy), td_tensor_data(x), data_or_null(w), td_tensor_data(mean),
                   td_tensor_data(invstd), data_or_null(out[INPUT]), data_or_null(out[WEIGHT]),
                   data_or_null(out[BIAS]));
  else
    backward_double(r, td_tensor_data(dy), td_tensor_data(x), data_or_null(w), td_tensor_data(mean),
                    td_tensor_data(invstd), data_or_null(out[INPUT]), data_or_null(out[WEIGHT]),
                    data_or_null(out[BIAS]));
  for (int i = 0; i < N_OPERANDS; i++)
    TD_TRY(td_op_rounded(&out[i], input->dtype, error));
  return TD_OK;
}

/* As [batches, groups, n_affine, span], where weight and bias are [1, groups, n_affine, 1]. */
static td_status
recorded_gradients(const row_norm_node *node, td_tensor *grad, td_tensor *input, td_tensor *weight,
                   const bool wanted[N_OPERANDS], td_tensor *out[N_OPERANDS], td_error *error) {
  const rows *r = &node->rows;
  const td_input_metadata *affine = &node->affine;
  int64_t sizes[] = {r->n_rows / r->groups, r->groups, r->n_affine, r->span};
  TD_LOCAL(dy);
  TD_LOCAL(x);
  TD_LOCAL(w);
  td_normalized n = {.affine = *affine, .n_dims = 2, .dims = {2, 3}, .eps = node->eps};
  n.affine.n_dims = 4;
  memcpy(n.affine.sizes, (int64_t[]){1, r->groups, r->n_affine, 1}, sizeof sizes);
  TD_TRY(td_op_reshape(grad, 4, sizes, &dy, error));
  TD_TRY(td_op_reshape(input, 4, sizes, &x, error));
  if (weight) TD_TRY(td_op_reshape(weight, 4, n.affine.sizes, &w, error));
  n.input = x;
  n.weight = w;
  TD_TRY(td_normalize_gradients(&n, dy, wanted, out, error));
  for (int i = 0; i < N_OPERANDS; i++) {
    TD_LOCAL(wide);
    wide = td_op_take(&out[i]);
    if (wide && i == INPUT)
      TD_TRY(td_op_view(wide, input->n_dims, input->sizes, &out[i], error));
    else if (wide)
      TD_TRY(td_op_view(wide, affine->n_dims, affine->sizes, &out[i], error));
  }
  return TD_OK;
}

static td_status
unpack_invstd(row_norm_node *node, td_tensor **out, td_error *error) {
  td_node_lock(&node->op.node);
  td_status status = td_saved_variable_unpack(&node->invstd, &node->op.node, out, error);
  td_node_unlock(&node->op.node);
  return status;
}

static td_status
gradients(row_norm_node *node, td_tensor *grad, const bool wanted[N_OPERANDS],
          td_tensor *out[N_OPERANDS], td_error *error) {
  TD_LOCAL(input);
  TD_LOCAL(weight);
  TD_LOCAL(mean);
  TD_LOCAL(invstd);
  TD_TRY(td_op_saved(&node->op, SAVED_INPUT, &input, error));
  TD_TRY(td_op_saved(&node->op, SAVED_WEIGHT, &weight, error));
  if (td_normalize_wants_graph(grad, input, weight))
    return recorded_gradients(node, grad, input, weight, wanted, out, error);
  TD_TRY(td_op_saved(&node->op, SAVED_MEAN, &mean, error));
  TD_TRY(unpack_invstd(node, &invstd, error));
  return kernel_gradients(node, grad, input, weight, mean, invstd, wanted, out, error);
}

static td_status
row_norm_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  bool wanted[N_OPERANDS];
  for (uint32_t i = 0; i < N_OPERANDS; i++) {
    outputs[i] = NULL;
    wanted[i] = td_needs_gradient(self, i);
  }
  if (!inputs[0]) return TD_OK;
  td_status status = gradients((row_norm_node *)self, inputs[0], wanted, outputs, error);
  if (status) td_op_drop(outputs, N_OPERANDS);
  return status;
}

static void
row_norm_release(td_node *self) {
  td_op_release(self);
  td_saved_variable_release(&((row_norm_node *)self)->invstd);
  td_saved_variable_release(&((row_norm_node *)self)->bias);
}

static const td_op_class layer_norm_class = {{.name = "NativeLayerNormBackward0",
                                              .apply = row_norm_apply,
                                              .release_variables = row_norm_release}};
static const td_op_class group_norm_class = {{.name = "NativeGroupNormBackward0",
                                              .apply = row_norm_apply,
                                              .release_variables = row_norm_release}};

/* A normalization, checked: what to do and with what. */
typedef struct row_norm {
  const td_op_class *klass;
  td_tensor *self, *weight, *bias; /* (borrowed) */
  rows rows;
  double eps;
  td_sizes moments, affine; /* sizes of mean and invstd, of weight and bias */
} row_norm;

static td_status
forward_kernel(const row_norm *n, td_tensor *result, td_tensor *mean, td_tensor *invstd,
               td_error *error) {
  TD_LOCAL(x);
  TD_LOCAL(weight);
  TD_LOCAL(bias);
  TD_TRY(td_op_widen_contiguous(n->self, &x, error));
  TD_TRY(td_op_widen_contiguous(n->weight, &weight, error));
  TD_TRY(td_op_widen_contiguous(n->bias, &bias, error));
  if (!TD_LAUNCH("layer_norm", 3, result, mean, invstd, x, weight, bias)) return TD_OK;
  if (x->dtype == TD_FLOAT32)
    forward_float(&n->rows, n->eps, td_tensor_data(x), data_or_null(weight), data_or_null(bias),
                  td_tensor_data(mean), td_tensor_data(invstd), td_tensor_data(result));
  else
    forward_double(&n->rows, n->eps, td_tensor_data(x), data_or_null(weight), data_or_null(bias),
                   td_tensor_data(mean), td_tensor_data(invstd), td_tensor_data(result));
  return TD_OK;
}

static void
keep(row_norm_node *node, const row_norm *n, td_tensor *results[3]) {
  node->rows = n->rows;
  node->eps = n->eps;
  node->affine = td_op_metadata(n->self);
  node->affine.n_dims = n->affine.n_dims;
  memcpy(node->affine.sizes, n->affine.at, sizeof n->affine.at);
  td_op_save(&node->op, SAVED_INPUT, n->self);
  td_op_save(&node->op, SAVED_WEIGHT, n->weight);
  td_saved_variable_init(&node->bias, n->bias, false);
  /* PyTorch takes group_norm's moments for differentiable, layer_norm's not */
  td_function_end(&node->op.node, results, n->klass == &group_norm_class ? 3 : 1);
  td_op_save_result(&node->op, SAVED_MEAN, results[1]);
  td_saved_variable_init(&node->invstd, results[2], true);
}

static td_status
run(const row_norm *n, td_tensor **out, td_error *error) {
  td_tensor *self = n->self;
  TD_LOCAL(result);
  TD_LOCAL(mean);
  TD_LOCAL(invstd);
  TD_TRY(td_op_want_floating(
      self, n->klass == &layer_norm_class ? "LayerNormKernelImpl" : "GroupNormKernelImpl", error));
  if (n->weight) TD_TRY(td_op_same_dtype(self, n->weight, error));
  if (n->bias) TD_TRY(td_op_same_dtype(self, n->bias, error));
  td_dtype wide = td_dtype_compute(self->dtype);
  TD_TRY(td_tensor_new_empty(wide, self->device, self->n_dims, self->sizes, &result, error));
  TD_TRY(td_tensor_new_empty(wide, self->device, n->moments.n_dims, n->moments.at, &mean, error));
  TD_TRY(td_tensor_new_empty(wide, self->device, n->moments.n_dims, n->moments.at, &invstd, error));
  TD_TRY(forward_kernel(n, result, mean, invstd, error));
  TD_TRY(td_op_rounded(&result, self->dtype, error));
  row_norm_node *node = td_op_begin(n->klass, sizeof *node, TD_INPUTS(self, n->weight, n->bias));
  if (node) keep(node, n, (td_tensor *[]){result, mean, invstd});
  *out = TD_TAKE(result);
  return TD_OK;
}

/* PyTorch prints a shape that may have more dimensions in front as [*, 2, 3]. */
static td_status
refuse_shape(const td_tensor *self, int n_dims, const int64_t *sizes, td_error *error) {
  char *wanted = td_sizes_text(n_dims, sizes), *got = td_tensor_shape_text(self);
  td_error_set(error, TD_SHAPE,
               "Given normalized_shape=%s, expected input with shape [*, %s, but got input of "
               "size%s",
               wanted, wanted + 1, got);
  free(wanted);
  free(got);
  return TD_SHAPE;
}

static bool
ends_with(const td_tensor *self, int n_dims, const int64_t *sizes) {
  int leading = self->n_dims - n_dims;
  return leading >= 0 && memcmp(self->sizes + leading, sizes, (size_t)n_dims * sizeof *sizes) == 0;
}

static td_status
check_affine(const char *what, const td_tensor *parameter, int n_dims, const int64_t *sizes,
             td_error *error) {
  if (!parameter || (parameter->n_dims == n_dims && ends_with(parameter, n_dims, sizes)))
    return TD_OK;
  char *wanted = td_sizes_text(n_dims, sizes), *got = td_tensor_shape_text(parameter);
  td_error_set(error, TD_SHAPE,
               "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
               "normalized_shape = %s",
               what, what, got, wanted);
  free(wanted);
  free(got);
  return TD_SHAPE;
}

td_status
td_op_layer_norm(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor *weight,
                 td_tensor *bias, double eps, td_tensor **out, td_error *error) {
  row_norm n = {.klass = &layer_norm_class, .self = self, .weight = weight, .bias = bias};
  if (!ends_with(self, n_dims, sizes)) return refuse_shape(self, n_dims, sizes, error);
  TD_TRY(check_affine("weight", weight, n_dims, sizes, error));
  TD_TRY(check_affine("bias", bias, n_dims, sizes, error));
  n.eps = eps;
  n.rows = (rows){.n_rows = 1, .groups = 1, .n_affine = 1, .span = 1};
  n.moments.n_dims = self->n_dims;
  n.affine.n_dims = n_dims;
  for (int dim = 0; dim < self->n_dims; dim++) {
    bool inner = dim >= self->n_dims - n_dims;
    n.moments.at[dim] = inner ? 1 : self->sizes[dim];
    *(inner ? &n.rows.n_affine : &n.rows.n_rows) *= self->sizes[dim];
  }
  memcpy(n.affine.at, sizes, (size_t)n_dims * sizeof *sizes);
  return run(&n, out, error);
}

td_status
td_op_group_norm(td_tensor *self, int64_t groups, td_tensor *weight, td_tensor *bias, double eps,
                 td_tensor **out, td_error *error) {
  row_norm n = {.klass = &group_norm_class, .self = self, .weight = weight, .bias = bias};
  if (self->n_dims < 2)
    return td_error_set(error, TD_SHAPE,
                        "Expected at least 2 dimensions for input tensor but "
                        "received %d",
                        self->n_dims);
  int64_t batch = self->sizes[0], channels = self->sizes[1];
  if (groups <= 0 || channels % groups)
    return td_error_set(error, TD_SHAPE,
                        "Expected number of channels in input to be divisible by num_groups, but "
                        "got input of %lld channels and num_groups=%lld",
                        (long long)channels, (long long)groups);
  TD_TRY(check_affine("weight", weight, 1, &channels, error));
  TD_TRY(check_affine("bias", bias, 1, &channels, error));
  n.eps = eps;
  n.rows = (rows){.n_rows = batch * groups, .groups = groups, .n_affine = channels / groups};
  n.rows.span = 1;
  for (int dim = 2; dim < self->n_dims; dim++)
    n.rows.span *= self->sizes[dim];
  n.moments = (td_sizes){.n_dims = 2, .at = {batch, groups}};
  n.affine = (td_sizes){.n_dims = 1, .at = {channels}};
  return run(&n, out, error);
}
