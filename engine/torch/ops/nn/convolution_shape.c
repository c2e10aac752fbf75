/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/convolution_shape.h"

#include "engine/torch/ops/base/op.h"

#include <stdio.h>

static const char *
name_of(const td_convolution *shape) {
  static const char *const names[2][2] = {{"conv1d", "conv2d"},
                                          {"conv_transpose1d", "conv_transpose2d"}};
  return names[shape->transposed][shape->n_dims - 1];
}

static int64_t
in_channels(const td_convolution *shape, const td_tensor *weight) {
  return shape->transposed ? weight->sizes[0] : weight->sizes[1] * shape->groups;
}

static int64_t
out_channels(const td_convolution *shape, const td_tensor *weight) {
  return shape->transposed ? weight->sizes[1] * shape->groups : weight->sizes[0];
}

static td_status
check_dims(const td_convolution *shape, td_tensor *input, td_tensor *weight, td_error *error) {
  int n = shape->n_dims + 2;
  if (weight->n_dims != n)
    return td_error_set(error, TD_SHAPE, "%s: expected a %dD weight, but got %dD", name_of(shape),
                        n, weight->n_dims);
  if (input->n_dims == n || input->n_dims == n - 1) return TD_OK;
  char *text = td_tensor_shape_text(input);
  td_error_set(error, TD_SHAPE,
               "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s",
               n - 1, n, name_of(shape), text);
  free(text);
  return TD_SHAPE;
}

static td_status
check_groups(const td_convolution *shape, td_tensor *weight, td_error *error) {
  if (shape->groups <= 0)
    return td_error_set(error, TD_INVALID, "non-positive groups is not supported");
  if (weight->sizes[0] % shape->groups == 0) return TD_OK;
  char *text = td_tensor_shape_text(weight);
  td_error_set(error, TD_SHAPE,
               "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got "
               "weight of size [%s] instead",
               (long long)shape->groups, (long long)shape->groups, text);
  free(text);
  return TD_SHAPE;
}

static td_status
check_channels(const td_convolution *shape, td_tensor *input, td_tensor *weight, td_tensor *bias,
               td_error *error) {
  int64_t wanted = in_channels(shape, weight),
          got = input->sizes[input->n_dims - shape->n_dims - 1];
  int64_t biases = out_channels(shape, weight);
  if (wanted != got) {
    char given[40];
    snprintf(given, sizeof given, shape->transposed ? "transposed=1" : "groups=%lld",
             (long long)shape->groups);
    char *text = td_tensor_shape_text(weight), *input_text = td_tensor_shape_text(input);
    td_error_set(
        error, TD_SHAPE,
        "Given %s, weight of size %s, expected input%s to have %lld channels, but got %lld "
        "channels instead",
        given, text, input_text, (long long)wanted, (long long)got);
    free(text);
    free(input_text);
    return TD_SHAPE;
  }
  if (!bias || (bias->n_dims == 1 && bias->sizes[0] == biases)) return TD_OK;
  char *text = td_tensor_shape_text(weight), *bias_text = td_tensor_shape_text(bias);
  td_error_set(error, TD_SHAPE,
               "Given %sweight of size %s, expected bias to be 1-dimensional with %lld elements, "
               "but got bias of size %s instead",
               shape->transposed ? "transposed=1, " : "", text, (long long)biases, bias_text);
  free(text);
  free(bias_text);
  return TD_SHAPE;
}

static td_status
check_numbers(const td_convolution *shape, td_error *error) {
  for (int i = 0; i < 2; i++) {
    if (shape->stride[i] <= 0)
      return td_error_set(error, TD_INVALID, "non-positive stride is not supported");
    if (shape->padding[i] < 0)
      return td_error_set(error, TD_INVALID, "negative padding is not supported");
    if (shape->dilation[i] <= 0)
      return td_error_set(error, TD_INVALID, "dilation should be greater than zero");
    if (shape->output_padding[i] < 0 ||
        shape->output_padding[i] >= TD_MAX(shape->stride[i], shape->dilation[i]))
      return td_error_set(error, TD_INVALID,
                          "output padding must be smaller than either stride or dilation");
  }
  return TD_OK;
}

td_status
td_convolution_check(const td_convolution *shape, td_tensor *input, td_tensor *weight,
                     td_tensor *bias, td_error *error) {
  TD_TRY(check_dims(shape, input, weight, error));
  TD_TRY(check_groups(shape, weight, error));
  TD_TRY(check_channels(shape, input, weight, bias, error));
  TD_TRY(check_numbers(shape, error));
  TD_TRY(td_op_want_floating(input, name_of(shape), error));
  if (bias) TD_TRY(td_op_same_dtype(input, bias, error));
  return td_op_same_dtype(input, weight, error);
}

static void
pair_text(char text[48], int n_dims, const int64_t pair[2]) {
  if (n_dims == 1)
    snprintf(text, 48, "(%lld)", (long long)pair[1]);
  else
    snprintf(text, 48, "(%lld x %lld)", (long long)pair[0], (long long)pair[1]);
}

static td_status
check_fits(const td_convolution *shape, const int64_t size[2], const int64_t kernel[2],
           td_error *error) {
  int64_t padded[2], reach[2];
  char padded_text[48], reach_text[48];
  for (int i = 0; i < 2; i++) {
    padded[i] = size[i] + 2 * shape->padding[i];
    reach[i] = shape->dilation[i] * (kernel[i] - 1) + 1;
  }
  if (reach[0] <= padded[0] && reach[1] <= padded[1]) return TD_OK;
  pair_text(padded_text, shape->n_dims, padded);
  pair_text(reach_text, shape->n_dims, reach);
  return td_error_set(error, TD_SHAPE,
                      "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size "
                      "can't be greater than actual input size",
                      padded_text, reach_text);
}

/* The result's size along a dimension. */
static int64_t
result_size(const td_convolution *shape, int dim, int64_t size, int64_t kernel) {
  int64_t reach = shape->dilation[dim] * (kernel - 1) + 1, padding = 2 * shape->padding[dim];
  if (shape->transposed)
    return (size - 1) * shape->stride[dim] - padding + reach + shape->output_padding[dim];
  return (size + padding - reach) / shape->stride[dim] + 1;
}

static td_status
check_result(const int64_t size[2], const int64_t result[2], td_error *error) {
  if (result[0] > 0 && result[1] > 0) return TD_OK;
  return td_error_set(error, TD_SHAPE,
                      "Given input size per channel: (%lld x %lld). Calculated output size per "
                      "channel: (%lld x %lld). Output size is too small",
                      (long long)size[0], (long long)size[1], (long long)result[0],
                      (long long)result[1]);
}

/* The last two sizes of an image or a kernel, 1 high if it is a line. */
static void
spatial(const td_convolution *shape, const td_tensor *tensor, int64_t pair[2]) {
  pair[0] = shape->n_dims == 2 ? tensor->sizes[2] : 1;
  pair[1] = tensor->sizes[shape->n_dims + 1];
}

td_status
td_convolution_sizes(const td_convolution *shape, const td_tensor *input, const td_tensor *weight,
                     td_correlation *correlation, int64_t sizes[4], td_error *error) {
  int64_t size[2], kernel[2], result[2];
  spatial(shape, input, size);
  spatial(shape, weight, kernel);
  if (!shape->transposed) TD_TRY(check_fits(shape, size, kernel, error));
  for (int i = 0; i < 2; i++)
    result[i] = result_size(shape, i, size[i], kernel[i]);
  TD_TRY(check_result(size, result, error));
  const int64_t *image = shape->transposed ? result : size;
  const int64_t *out = shape->transposed ? size : result;
  *correlation = (td_correlation){.batch = input->sizes[0],
                                  .groups = shape->groups,
                                  .channels = weight->sizes[1],
                                  .out_channels = weight->sizes[0] / shape->groups,
                                  .size = {image[0], image[1]},
                                  .kernel = {kernel[0], kernel[1]},
                                  .out_size = {out[0], out[1]},
                                  .stride = {shape->stride[0], shape->stride[1]},
                                  .padding = {shape->padding[0], shape->padding[1]},
                                  .dilation = {shape->dilation[0], shape->dilation[1]}};
  sizes[0] = input->sizes[0];
  sizes[1] = out_channels(shape, weight);
  sizes[2] = result[2 - shape->n_dims];
  sizes[3] = result[1];
  return TD_OK;
}
