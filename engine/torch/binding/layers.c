/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of layers: convolution, pooling, normalization. */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/ops/nn/convolution.h"
#include "engine/torch/ops/nn/lstm.h"
#include "engine/torch/ops/nn/normalization.h"
#include "engine/torch/ops/nn/pooling.h"

/* The arguments of every convolution, in both orders of PyTorch. A transposed convolution has
 * output_padding before groups. */
typedef struct convolution_call {
  td_tensor *input, *weight, *bias;
  td_convolution shape;
} convolution_call;

static PyObject *
convolve(PyObject *args, PyObject *kwargs, int n_dims) {
  static char *names[] = {"input",   "weight",   "bias",   "stride",
                          "padding", "dilation", "groups", NULL};
  convolution_call c = {
      .shape = {.n_dims = n_dims, .groups = 1, .stride = {1, 1}, .dilation = {1, 1}}};
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&O&O&O&L", names, tdpy_tensor_converter,
                                   &c.input, tdpy_tensor_converter, &c.weight,
                                   tdpy_optional_tensor_converter, &c.bias, tdpy_pair_converter,
                                   c.shape.stride, tdpy_pair_converter, c.shape.padding,
                                   tdpy_pair_converter, c.shape.dilation, &c.shape.groups))
    return NULL;
  td_status status = td_op_convolution(&c.shape, c.input, c.weight, c.bias, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
conv1d(PyObject *self, PyObject *args, PyObject *kwargs) {
  return convolve(args, kwargs, 1);
}

static PyObject *
conv2d(PyObject *self, PyObject *args, PyObject *kwargs) {
  return convolve(args, kwargs, 2);
}

static PyObject *
convolve_transposed(PyObject *args, PyObject *kwargs, int n_dims) {
  static char *names[] = {"input",          "weight", "bias",     "stride", "padding",
                          "output_padding", "groups", "dilation", NULL};
  convolution_call c = {
      .shape = {
          .n_dims = n_dims, .transposed = true, .groups = 1, .stride = {1, 1}, .dilation = {1, 1}}};
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&O&O&O&LO&", names, tdpy_tensor_converter,
                                   &c.input, tdpy_tensor_converter, &c.weight,
                                   tdpy_optional_tensor_converter, &c.bias, tdpy_pair_converter,
                                   c.shape.stride, tdpy_pair_converter, c.shape.padding,
                                   tdpy_pair_converter, c.shape.output_padding, &c.shape.groups,
                                   tdpy_pair_converter, c.shape.dilation))
    return NULL;
  td_status status = td_op_convolution(&c.shape, c.input, c.weight, c.bias, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
conv_transpose1d(PyObject *self, PyObject *args, PyObject *kwargs) {
  return convolve_transposed(args, kwargs, 1);
}

static PyObject *
conv_transpose2d(PyObject *self, PyObject *args, PyObject *kwargs) {
  return convolve_transposed(args, kwargs, 2);
}

/* Without a stride, the size of the kernel is the stride. */
static void
default_stride(td_pooling *pooling) {
  for (int i = 0; i < 2; i++)
    if (pooling->stride[i] == 0) pooling->stride[i] = pooling->kernel[i];
}

static PyObject *
max_pool2d(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input",    "kernel_size", "stride",         "padding",
                          "dilation", "ceil_mode",   "return_indices", NULL};
  td_tensor *input, *out = NULL, *indices = NULL;
  td_pooling pooling = {.dilation = {1, 1}};
  int ceil_mode = 0, return_indices = 0;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&O&O&pp:max_pool2d", names,
                                   tdpy_tensor_converter, &input, tdpy_pair_converter,
                                   pooling.kernel, tdpy_pair_converter, pooling.stride,
                                   tdpy_pair_converter, pooling.padding, tdpy_pair_converter,
                                   pooling.dilation, &ceil_mode, &return_indices))
    return NULL;
  default_stride(&pooling);
  pooling.ceil_mode = ceil_mode;
  td_status status =
      td_op_max_pool2d(&pooling, input, &out, return_indices ? &indices : NULL, &error);
  PyObject *result = tdpy_result(status, out, &error);
  if (!result || !return_indices) return result;
  return Py_BuildValue("NN", result, tdpy_tensor_wrap(indices));
}

static PyObject *
avg_pool2d(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input",     "kernel_size",       "stride",           "padding",
                          "ceil_mode", "count_include_pad", "divisor_override", NULL};
  td_tensor *input, *out = NULL;
  td_pooling pooling = {.dilation = {1, 1}};
  int ceil_mode = 0, count_include_pad = 1;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&|O&O&ppO&:avg_pool2d", names, tdpy_tensor_converter, &input,
          tdpy_pair_converter, pooling.kernel, tdpy_pair_converter, pooling.stride,
          tdpy_pair_converter, pooling.padding, &ceil_mode, &count_include_pad, tdpy_int_converter,
          &pooling.divisor_override))
    return NULL;
  default_stride(&pooling);
  pooling.ceil_mode = ceil_mode;
  pooling.count_include_pad = count_include_pad;
  td_status status = td_op_avg_pool2d(&pooling, input, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
adaptive_avg_pool2d(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input", "output_size", NULL};
  td_tensor *input, *out = NULL;
  int64_t size[2];
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&:adaptive_avg_pool2d", names,
                                   tdpy_tensor_converter, &input, tdpy_pair_converter, size))
    return NULL;
  td_status status = td_op_adaptive_avg_pool2d(size, input, &out, &error);
  return tdpy_result(status, out, &error);
}

/* The positions of torch.batch_norm. Its last argument is about another backend. */
static PyObject *
batch_norm(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input",    "weight",   "bias", "running_mean",  "running_var",
                          "training", "momentum", "eps",  "cudnn_enabled", NULL};
  td_tensor *input, *out = NULL;
  td_batch_norm norm = {0};
  int training = 0, unused = 0;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&O&O&pdd|p:batch_norm", names, tdpy_tensor_converter, &input,
          tdpy_optional_tensor_converter, &norm.weight, tdpy_optional_tensor_converter, &norm.bias,
          tdpy_optional_tensor_converter, &norm.running_mean, tdpy_optional_tensor_converter,
          &norm.running_var, &training, &norm.momentum, &norm.eps, &unused))
    return NULL;
  norm.training = training;
  td_status status = td_op_batch_norm(input, &norm, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
layer_norm(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input", "normalized_shape", "weight", "bias", "eps", NULL};
  td_tensor *input, *weight = NULL, *bias = NULL, *out = NULL;
  tdpy_sizes sizes = {0};
  double eps = 1e-5;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&O&d:layer_norm", names,
                                   tdpy_tensor_converter, &input, tdpy_sizes_converter, &sizes,
                                   tdpy_optional_tensor_converter, &weight,
                                   tdpy_optional_tensor_converter, &bias, &eps))
    return NULL;
  td_status status =
      td_op_layer_norm(input, sizes.n, sizes.values, weight, bias, eps, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
group_norm(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input", "num_groups", "weight", "bias", "eps", NULL};
  td_tensor *input, *weight = NULL, *bias = NULL, *out = NULL;
  long long groups;
  double eps = 1e-5;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&L|O&O&d:group_norm", names, tdpy_tensor_converter, &input, &groups,
          tdpy_optional_tensor_converter, &weight, tdpy_optional_tensor_converter, &bias, &eps))
    return NULL;
  td_status status = td_op_group_norm(input, groups, weight, bias, eps, &out, &error);
  return tdpy_result(status, out, &error);
}

/* _lstm_layer(operands, reverse): the results. */
static PyObject *
lstm_layer(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input", "weight_ih", "weight_hh", "bias_ih", "bias_hh",
                          "hx",    "cx",        "reverse",   NULL};
  td_tensor *operands[TD_LSTM_N_OPERANDS] = {NULL}, *results[TD_LSTM_N_RESULTS] = {NULL};
  int reverse = 0;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&O&O&O&O&p:_lstm_layer", names, tdpy_tensor_converter, &operands[0],
          tdpy_tensor_converter, &operands[1], tdpy_tensor_converter, &operands[2],
          tdpy_optional_tensor_converter, &operands[3], tdpy_optional_tensor_converter,
          &operands[4], tdpy_tensor_converter, &operands[5], tdpy_tensor_converter, &operands[6],
          &reverse))
    return NULL;
  td_status status = td_op_lstm_layer(operands, reverse, results, &error);
  if (!tdpy_check(status, &error)) return NULL;
  return Py_BuildValue("NNN", tdpy_tensor_wrap(results[0]), tdpy_tensor_wrap(results[1]),
                       tdpy_tensor_wrap(results[2]));
}

PyMethodDef tdpy_layer_functions[] = {
    {"conv1d", TDPY_KEYWORDS(conv1d), "A convolution over lines."},
    {"conv2d", TDPY_KEYWORDS(conv2d), "A convolution over images."},
    {"conv_transpose1d", TDPY_KEYWORDS(conv_transpose1d), "The transpose of conv1d."},
    {"conv_transpose2d", TDPY_KEYWORDS(conv_transpose2d), "The transpose of conv2d."},
    {"max_pool2d", TDPY_KEYWORDS(max_pool2d), "The largest element of each window."},
    {"avg_pool2d", TDPY_KEYWORDS(avg_pool2d), "The mean of each window."},
    {"adaptive_avg_pool2d", TDPY_KEYWORDS(adaptive_avg_pool2d),
     "The means of as many windows as wanted."},
    {"batch_norm", TDPY_KEYWORDS(batch_norm), "Channels with mean 0 and variance 1."},
    {"layer_norm", TDPY_KEYWORDS(layer_norm), "The same of the last dimensions."},
    {"group_norm", TDPY_KEYWORDS(group_norm), "The same of groups of channels."},
    {"_lstm_layer", TDPY_KEYWORDS(lstm_layer), "A layer of an LSTM in one direction."},
    {NULL}};
