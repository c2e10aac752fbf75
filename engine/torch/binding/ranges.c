/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions that make tensors of numbers in a row. */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"

#include <assert.h>
#include <math.h>

/* From both ends to the middle, rounded as PyTorch rounds: fused. */
#define POINTS(T, FMA)                                                                             \
  T step = n > 1 ? ((T)end - (T)start) / (T)(n - 1) : 0;                                           \
  for (int64_t i = 0; i < n; i++)                                                                  \
    td_tensor_set(tensor, i,                                                                       \
                  i < n / 2 || n == 1 ? FMA(step, (T)i, (T)start)                                  \
                                      : FMA(-step, (T)(n - i - 1), (T)end));

static void
fill_points(td_tensor *tensor, double start, double end) {
  int64_t n = td_tensor_n_elements(tensor);
  if (tensor->dtype == TD_FLOAT32) {
    POINTS(float, fmaf)
  } else {
    POINTS(double, fma)
  }
}

/* linspace(start, end, steps, base): powers of the base; of base 0 the points themselves. */
static PyObject *
linspace(PyObject *self, PyObject *args, PyObject *kwargs) {
  double start, end, base;
  long long steps;
  tdpy_options options = {.dtype = td_default_dtype(), .device = TD_CPU};
  td_error error = {0};
  td_tensor *points = NULL, *tensor = NULL;
  if (!PyArg_ParseTuple(args, "ddLd:linspace", &start, &end, &steps, &base) ||
      !tdpy_options_read("linspace", kwargs, &options))
    return NULL;
  if (steps < 0) return PyErr_Format(PyExc_RuntimeError, "number of steps must be non-negative");
  bool whole = !td_dtype_is_differentiable(options.dtype);
  td_status status = td_op_check_dtype("linspace", options.dtype, &error);
  if (!status)
    status = td_tensor_new(base != 0 && whole ? TD_FLOAT64 : options.dtype, options.device, 1,
                           (int64_t[]){steps}, &points, &error);
  if (!tdpy_check(status, &error)) return NULL;
  assert(points);
  fill_points(points, start, end);
  for (int64_t i = 0; base != 0 && i < steps; i++)
    td_tensor_set(points, i, pow(base, td_tensor_get(points, i)));
  status = td_op_to_dtype(points, options.dtype, &tensor, &error);
  td_tensor_unref(points);
  if (!tdpy_check(status, &error)) return NULL;
  status = td_set_requires_grad(tensor, options.requires_grad, &error);
  return tdpy_result(status, tensor, &error);
}

/* eye(n, m) */
static PyObject *
eye(PyObject *self, PyObject *args, PyObject *kwargs) {
  long long n, m;
  tdpy_options options = {.dtype = td_default_dtype(), .device = TD_CPU};
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!PyArg_ParseTuple(args, "LL:eye", &n, &m) || !tdpy_options_read("eye", kwargs, &options))
    return NULL;
  td_status status =
      td_tensor_new(options.dtype, options.device, 2, (int64_t[]){n, m}, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  for (int64_t i = 0; i < n && i < m; i++)
    td_tensor_set(tensor, i * m + i, 1);
  status = td_set_requires_grad(tensor, options.requires_grad, &error);
  return tdpy_result(status, tensor, &error);
}

PyMethodDef tdpy_range_functions[] = {
    {"linspace", TDPY_KEYWORDS(linspace), NULL}, {"eye", TDPY_KEYWORDS(eye), NULL}, {NULL}};
