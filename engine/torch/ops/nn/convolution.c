/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/convolution.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/linalg/correlation.h"
#include "engine/torch/ops/nn/convolution_shape.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/reduction/reductions.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/pass/exec_info.h"

/* Of ConvolutionBackward0, which saves input and weight, and of ConvolutionBackwardBackward0, which
 * saves the gradient too. */
typedef struct convolution_node {
  td_op_node op;
  td_convolution shape;
} convolution_node;

enum { INPUT, WEIGHT, BIAS, N_OPERANDS, GRADIENT = BIAS };

/* A transposed convolution's input is what the correlation gives, its output what it takes. */
static td_status
forward_kernel(const td_convolution *shape, const td_correlation *correlation, td_tensor *input,
               td_tensor *weight, td_tensor *result, td_error *error) {
  if (shape->transposed) return td_correlation_adjoint(correlation, input, weight, result, error);
  return td_correlation_apply(correlation, input, weight, result, false, error);
}

static td_status
add_bias(td_tensor *result, td_tensor *narrow, td_error *error) {
  TD_LOCAL(planes);
  TD_LOCAL(bias);
  TD_TRY(td_op_widen(narrow, &bias, error));
  int64_t strides[TD_MAX_DIMS] = {0, bias->strides[0]};
  planes = td_tensor_new_view(bias, result->n_dims, result->sizes, strides, bias->offset);
  td_kernel_add_into(result, planes);
  return TD_OK;
}

static td_status
convolution_result(const td_convolution *shape, td_tensor *input, td_tensor *weight,
                   td_tensor *bias, td_tensor **out, td_error *error) {
  td_device device;
  TD_LOCAL(image);
  TD_LOCAL(kernel);
  TD_LOCAL(result);
  td_correlation correlation;
  int64_t sizes[4];
  TD_TRY(td_op_common_device(3, (td_tensor *[]){input, weight, bias}, &device, error));
  TD_TRY(td_convolution_sizes(shape, input, weight, &correlation, sizes, error));
  TD_TRY(td_op_widen_contiguous(input, &image, error));
  TD_TRY(td_op_widen_contiguous(weight, &kernel, error));
  if (shape->transposed)
    TD_TRY(td_tensor_new(image->dtype, device, input->n_dims, sizes, &result, error));
  else
    TD_TRY(td_tensor_new_empty(image->dtype, device, input->n_dims, sizes, &result, error));
  TD_TRY(forward_kernel(shape, &correlation, image, kernel, result, error));
  if (bias) TD_TRY(add_bias(result, bias, error));
  TD_TRY(td_op_rounded(&result, input->dtype, error));
  *out = TD_TAKE(result);
  return TD_OK;
}

static td_status
input_gradient(const td_convolution *shape, const td_correlation *correlation, td_tensor *grad,
               td_tensor *input, td_tensor *weight, td_tensor **out, td_error *error) {
  TD_LOCAL(kernel);
  TD_LOCAL(result);
  TD_TRY(td_kernel_contiguous(weight, &kernel, error));
  TD_TRY(td_tensor_new_like(input, &result, error));
  if (shape->transposed)
    TD_TRY(td_correlation_apply(correlation, grad, kernel, result, false, error));
  else
    TD_TRY(td_correlation_adjoint(correlation, grad, kernel, result, error));
  *out = TD_TAKE(result);
  return TD_OK;
}

static td_status
weight_gradient(const td_convolution *shape, const td_correlation *correlation, td_tensor *grad,
                td_tensor *input, td_tensor *weight, td_tensor **out, td_error *error) {
  TD_LOCAL(image);
  TD_LOCAL(result);
  TD_TRY(td_kernel_contiguous(input, &image, error));
  if (correlation->batch > 0)
    TD_TRY(td_tensor_new_empty(weight->dtype, weight->device, weight->n_dims, weight->sizes,
                               &result, error));
  else
    TD_TRY(td_tensor_new_like(weight, &result, error));
  if (shape->transposed)
    TD_TRY(td_correlation_weight(correlation, grad, image, result, error));
  else
    TD_TRY(td_correlation_weight(correlation, image, grad, result, error));
  *out = TD_TAKE(result);
  return TD_OK;
}

/* The gradient of the bias: what each channel got. */
static td_status
bias_gradient(td_tensor *grad, td_tensor **out, td_error *error) {
  return td_op_sum_dims(grad, grad->n_dims - 1, (int64_t[]){0, 2, 3}, false, out, error);
}

static td_status
gradients(const td_convolution *shape, td_tensor *grad, td_tensor *input, td_tensor *weight,
          const bool wanted[N_OPERANDS], td_tensor *out[N_OPERANDS], td_error *error) {
  td_correlation correlation;
  int64_t sizes[4];
  TD_LOCAL(contiguous);
  TD_LOCAL(bare);
  TD_LOCAL(image);
  TD_LOCAL(kernel);
  TD_TRY(td_convolution_sizes(shape, input, weight, &correlation, sizes, error));
  TD_TRY(td_op_widen_contiguous(grad, &contiguous, error));
  TD_TRY(td_op_widen(input, &image, error));
  TD_TRY(td_op_widen(weight, &kernel, error));
  bare = td_tensor_detach(contiguous);
  if (wanted[INPUT])
    TD_TRY(input_gradient(shape, &correlation, bare, image, kernel, &out[INPUT], error));
  if (wanted[WEIGHT])
    TD_TRY(weight_gradient(shape, &correlation, bare, image, kernel, &out[WEIGHT], error));
  if (wanted[BIAS]) TD_TRY(bias_gradient(bare, &out[BIAS], error));
  for (int i = 0; i < N_OPERANDS; i++)
    TD_TRY(td_op_rounded(&out[i], input->dtype, error));
  return TD_OK;
}

static const td_op_class backward_class;

/* The operation whose results are the gradients: ConvolutionBackwardBackward0. On failure the
 * caller drops what `out` has got. */
static td_status
convolution_backward(const td_convolution *shape, td_tensor *grad, td_tensor *input,
                     td_tensor *weight, const bool wanted[N_OPERANDS], td_tensor *out[N_OPERANDS],
                     td_error *error) {
  TD_TRY(gradients(shape, grad, input, weight, wanted, out, error));
  convolution_node *node =
      td_op_begin(&backward_class, sizeof *node, TD_INPUTS(grad, input, weight));
  if (!node) return TD_OK;
  node->shape = *shape;
  td_op_save(&node->op, INPUT, input);
  td_op_save(&node->op, WEIGHT, weight);
  td_op_save(&node->op, GRADIENT, grad);
  td_function_end(&node->op.node, out, N_OPERANDS);
  return TD_OK;
}

static td_status
convolution_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  convolution_node *node = (convolution_node *)self;
  bool wanted[N_OPERANDS], any = false;
  TD_LOCAL(input);
  TD_LOCAL(weight);
  for (uint32_t i = 0; i < N_OPERANDS; i++) {
    outputs[i] = NULL;
    wanted[i] = td_needs_gradient(self, i);
    any = any || wanted[i];
  }
  if (!inputs[0] || !any) return TD_OK;
  TD_TRY(td_op_saved(&node->op, INPUT, &input, error));
  TD_TRY(td_op_saved(&node->op, WEIGHT, &weight, error));
  td_status status =
      convolution_backward(&node->shape, inputs[0], input, weight, wanted, outputs, error);
  if (status) td_op_drop(outputs, N_OPERANDS);
  return status;
}
static const td_op_class convolution_class = {{.name = "ConvolutionBackward0",
                                               .apply = convolution_apply,
                                               .release_variables = td_op_release}};

/* One gradient of a convolution, of those that convolution_backward makes. */
static td_status
one_gradient(const td_convolution *shape, int which, td_tensor *grad, td_tensor *input,
             td_tensor *weight, td_tensor **out, td_error *error) {
  td_tensor *all[N_OPERANDS] = {NULL};
  bool wanted[N_OPERANDS] = {false};
  wanted[which] = true;
  td_status status = convolution_backward(shape, grad, input, weight, wanted, all, error);
  if (status == TD_OK) *out = td_op_take(&all[which]);
  td_op_drop(all, N_OPERANDS);
  return status;
}

/* The channels' values in every place of `like`. */
static td_status
spread(td_tensor *channels, td_tensor *like, td_tensor **out, td_error *error) {
  TD_LOCAL(planes);
  int64_t sizes[TD_MAX_DIMS] = {1, like->sizes[1], 1, 1};
  TD_TRY(td_op_view(channels, like->n_dims, sizes, &planes, error));
  return td_op_expand(planes, like->n_dims, like->sizes, out, error);
}

/* d grad: what the convolution would have given for the gradients' gradients. */
static td_status
gradient_of_gradient(const td_convolution *shape, td_tensor *const gg[N_OPERANDS], td_tensor *grad,
                     td_tensor *input, td_tensor *weight, td_tensor **out, td_error *error) {
  TD_LOCAL(of_input);
  TD_LOCAL(of_weight);
  if (gg[INPUT]) TD_TRY(td_op_convolution(shape, gg[INPUT], weight, gg[BIAS], &of_input, error));
  if (gg[WEIGHT])
    TD_TRY(td_op_convolution(shape, input, gg[WEIGHT], gg[INPUT] ? NULL : gg[BIAS], &of_weight,
                             error));
  if (of_input && of_weight) return td_op_add(of_input, of_weight, 1, out, error);
  if (!of_input && !of_weight) return spread(gg[BIAS], grad, out, error);
  *out = of_input ? TD_TAKE(of_input) : TD_TAKE(of_weight);
  return TD_OK;
}

/* With G the gradients of the gradients by input, weight and bias, which are linear in each of
 * grad, input and weight:  d grad = conv(G_i, w) + conv(i, G_w) + G_b,  d input = the input's
 * gradient with G_w for the weight,  d weight = the weight's with G_i for the input. */
static td_status
backward_formulas(convolution_node *node, td_tensor *const *gg, td_tensor **outputs,
                  td_error *error) {
  const td_convolution *shape = &node->shape;
  TD_LOCAL(input);
  TD_LOCAL(weight);
  TD_LOCAL(grad);
  TD_TRY(td_op_saved(&node->op, INPUT, &input, error));
  TD_TRY(td_op_saved(&node->op, WEIGHT, &weight, error));
  TD_TRY(td_op_saved(&node->op, GRADIENT, &grad, error));
  if ((gg[INPUT] || gg[WEIGHT] || gg[BIAS]) && td_needs_gradient(&node->op.node, 0))
    TD_TRY(gradient_of_gradient(shape, gg, grad, input, weight, &outputs[0], error));
  if (gg[WEIGHT] && td_needs_gradient(&node->op.node, 1))
    TD_TRY(one_gradient(shape, INPUT, grad, input, gg[WEIGHT], &outputs[1], error));
  if (gg[INPUT] && td_needs_gradient(&node->op.node, 2))
    TD_TRY(one_gradient(shape, WEIGHT, grad, gg[INPUT], weight, &outputs[2], error));
  return TD_OK;
}

static td_status
backward_apply(td_node *self, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  memset(outputs, 0, N_OPERANDS * sizeof *outputs);
  td_status status = backward_formulas((convolution_node *)self, inputs, outputs, error);
  if (status) td_op_drop(outputs, N_OPERANDS);
  return status;
}
static const td_op_class backward_class = {{.name = "ConvolutionBackwardBackward0",
                                            .apply = backward_apply,
                                            .release_variables = td_op_release}};

static td_status
convolution(const td_convolution *shape, td_tensor *input, td_tensor *weight, td_tensor *bias,
            td_tensor **out, td_error *error) {
  TD_TRY(convolution_result(shape, input, weight, bias, out, error));
  convolution_node *node =
      td_op_begin(&convolution_class, sizeof *node, TD_INPUTS(input, weight, bias));
  if (!node) return TD_OK;
  node->shape = *shape;
  td_op_save(&node->op, INPUT, input);
  td_op_save(&node->op, WEIGHT, weight);
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* Lines are images of height 1. */
static td_convolution
normalized(const td_convolution *shape) {
  td_convolution same = *shape;
  if (shape->n_dims == 2) return same;
  same.stride[0] = same.dilation[0] = 1;
  same.padding[0] = same.output_padding[0] = 0;
  return same;
}

td_status
td_op_convolution(const td_convolution *shape, td_tensor *input, td_tensor *weight, td_tensor *bias,
                  td_tensor **out, td_error *error) {
  td_convolution same = normalized(shape);
  TD_LOCAL(batch);
  TD_LOCAL(result);
  TD_TRY(td_convolution_check(&same, input, weight, bias, error));
  if (input->n_dims == weight->n_dims) return convolution(&same, input, weight, bias, out, error);
  TD_TRY(td_op_unsqueeze(input, 0, &batch, error));
  TD_TRY(convolution(&same, batch, weight, bias, &result, error));
  return td_op_squeeze_dim(result, 0, out, error);
}
