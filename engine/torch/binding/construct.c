/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions that make tensors. */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/types.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/random/random.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"

#include <assert.h>
#include <complex.h>
#include <math.h>

typedef td_status (*filler)(const tdpy_options *options, int n_dims, const int64_t *sizes,
                            td_tensor **out, td_error *error);

static PyObject *
finish(td_tensor *tensor, const tdpy_options *options) {
  td_error error = {0};
  td_status status = options->requires_grad ? td_set_requires_grad(tensor, true, &error) : TD_OK;
  if (!tdpy_check(status, &error)) {
    td_tensor_unref(tensor);
    return NULL;
  }
  return tdpy_tensor_wrap(tensor);
}

static PyObject *
make_sized(const char *name, PyObject *args, PyObject *kwargs, filler fill) {
  tdpy_sizes sizes = {0};
  tdpy_options options = {.dtype = td_default_dtype(), .device = TD_CPU, .sizes = &sizes};
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!tdpy_sizes_from_args(args, &sizes) || !tdpy_options_read(name, kwargs, &options))
    return NULL;
  td_status status = fill(&options, sizes.n, sizes.values, &tensor, &error);
  return tdpy_check(status, &error) ? finish(tensor, &options) : NULL;
}

static td_status
fill_zeros(const tdpy_options *options, int n_dims, const int64_t *sizes, td_tensor **out,
           td_error *error) {
  return td_tensor_new(options->dtype, options->device, n_dims, sizes, out, error);
}

static td_status
fill_ones(const tdpy_options *options, int n_dims, const int64_t *sizes, td_tensor **out,
          td_error *error) {
  td_status status = fill_zeros(options, n_dims, sizes, out, error);
  if (!status) td_kernel_fill(*out, 1);
  return status;
}

static td_status
fill_uniform(const tdpy_options *options, int n_dims, const int64_t *sizes, td_tensor **out,
             td_error *error) {
  return td_op_rand(options->generator, options->dtype, options->device, n_dims, sizes, out, error);
}

static td_status
fill_normal(const tdpy_options *options, int n_dims, const int64_t *sizes, td_tensor **out,
            td_error *error) {
  return td_op_randn(options->generator, options->dtype, options->device, n_dims, sizes, out,
                     error);
}

static PyObject *
zeros(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("zeros", args, kwargs, fill_zeros);
}

static PyObject *
ones(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("ones", args, kwargs, fill_ones);
}

static PyObject *
rand_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("rand", args, kwargs, fill_uniform);
}

static PyObject *
randn(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("randn", args, kwargs, fill_normal);
}

static PyObject *
make_like(const char *name, PyObject *args, PyObject *kwargs, filler fill) {
  td_tensor *like, *tensor = NULL;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&", tdpy_tensor_converter, &like)) return NULL;
  tdpy_options options = {.dtype = like->dtype, .device = like->device};
  if (!tdpy_options_read(name, kwargs, &options)) return NULL;
  td_status status = fill(&options, like->n_dims, like->sizes, &tensor, &error);
  return tdpy_check(status, &error) ? finish(tensor, &options) : NULL;
}

static PyObject *
zeros_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("zeros_like", args, kwargs, fill_zeros);
}

static PyObject *
ones_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("ones_like", args, kwargs, fill_ones);
}

static PyObject *
rand_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("rand_like", args, kwargs, fill_uniform);
}

static PyObject *
randn_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("randn_like", args, kwargs, fill_normal);
}

static td_dtype
dtype_of_number(const tdpy_number *number) {
  if (number->is_complex) return td_dtype_complex(td_default_dtype());
  if (number->is_bool) return TD_BOOL;
  return number->is_integer ? TD_INT64 : td_default_dtype();
}

static PyObject *
full(PyObject *self, PyObject *args, PyObject *kwargs) {
  tdpy_sizes sizes = {0};
  PyObject *value;
  tdpy_number number;
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!PyArg_ParseTuple(args, "O&O:full", tdpy_sizes_converter, &sizes, &value)) return NULL;
  if (!tdpy_number_read(value, &number))
    return PyErr_Format(PyExc_TypeError, "full(): the value must be a number, not %s",
                        Py_TYPE(value)->tp_name);
  tdpy_options options = {.dtype = dtype_of_number(&number), .device = TD_CPU};
  if (!tdpy_options_read("full", kwargs, &options)) return NULL;
  td_complex128 filling = CMPLX(number.value, number.imaginary);
  td_status status = td_op_check_number(options.dtype, number.value, "_t", &error);
  if (!status) status = td_op_check_real(options.dtype, filling, &error);
  if (!status)
    status = td_tensor_new(options.dtype, options.device, sizes.n, sizes.values, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  assert(tensor);
  td_kernel_fill(tensor, filling);
  for (int64_t i = 0;
       number.is_integer && tensor->dtype == TD_INT64 && i < td_tensor_n_elements(tensor); i++)
    ((int64_t *)td_tensor_data(tensor))[i] = number.whole;
  return finish(tensor, &options);
}

/* start, end, step as given: arange(end), arange(start, end), arange(start, end, step). */
static bool
read_range(PyObject *args, tdpy_number range[3]) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  range[0] = (tdpy_number){.value = 0, .is_integer = true};
  range[2] = (tdpy_number){.value = 1, .whole = 1, .is_integer = true};
  bool fine = n >= 1 && n <= 3;
  for (Py_ssize_t i = 0; fine && i < n; i++)
    fine = tdpy_number_read(PyTuple_GET_ITEM(args, i), &range[n == 1 ? 1 : i]);
  if (!fine) PyErr_SetString(PyExc_TypeError, "arange() takes one to three numbers");
  return fine;
}

/* start, start + step, ...; integers keep all their bits. */
static void
fill_range(td_tensor *tensor, const tdpy_number range[3], bool integers) {
  int64_t *whole = integers && tensor->dtype == TD_INT64 ? td_tensor_data(tensor) : NULL;
  for (int64_t i = 0; i < tensor->sizes[0]; i++)
    if (whole)
      whole[i] = range[0].whole + i * range[2].whole;
    else
      td_tensor_set(tensor, i, range[0].value + (double)i * range[2].value);
}

/* How many numbers arange gives; below 0 if the step leads away from the end. */
static double
length_of_range(const tdpy_number range[3], bool integers) {
  double distance = range[1].value - range[0].value;
  if (distance * range[2].value < 0) return -1;
  if (!integers) return ceil(distance / range[2].value);
  int64_t way = range[1].whole - range[0].whole, step = range[2].whole;
  return (double)(way / step + (way % step != 0));
}

static PyObject *
arange(PyObject *self, PyObject *args, PyObject *kwargs) {
  tdpy_number range[3];
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!read_range(args, range)) return NULL;
  bool integers = range[0].is_integer && range[1].is_integer && range[2].is_integer;
  tdpy_options options = {.dtype = integers ? TD_INT64 : td_default_dtype(), .device = TD_CPU};
  if (!tdpy_options_read("arange", kwargs, &options)) return NULL;
  if (range[2].value == 0) return PyErr_Format(PyExc_RuntimeError, "step must be nonzero");
  double steps = length_of_range(range, integers);
  if (!(steps >= 0) || steps > 1e15)
    return PyErr_Format(PyExc_RuntimeError, "upper bound and %s bound inconsistent with step sign",
                        td_policy(name_operations) ? "lower" : "larger");
  int64_t n = (int64_t)steps;
  td_status status = td_op_check_dtype("arange", options.dtype, &error);
  if (!status) status = td_tensor_new(options.dtype, options.device, 1, &n, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  assert(tensor);
  fill_range(tensor, range, integers);
  return finish(tensor, &options);
}

static bool
warn_of_copy(void) {
  const char *how = td_policy(name_operations) ? "detach().clone()" : "clone().detach()";
  return PyErr_WarnFormat(PyExc_UserWarning, 1,
                          "To copy construct from a tensor, it is recommended to use "
                          "sourceTensor.%s or sourceTensor.%s.requires_grad_(True), rather than "
                          "torch.tensor(sourceTensor).",
                          how, how) == 0;
}

static PyObject *
tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *data;
  tdpy_options options = {.dtype = TD_N_DTYPES, .device = TD_CPU};
  if (!PyArg_ParseTuple(args, "O:tensor", &data) || !tdpy_options_read("tensor", kwargs, &options))
    return NULL;
  if (tdpy_tensor_is(data) && !warn_of_copy()) return NULL;
  td_tensor *made = tdpy_tensor_from_data(
      data, options.dtype == TD_N_DTYPES ? -1 : (int)options.dtype, options.device);
  return made ? finish(made, &options) : NULL;
}

static PyObject *
randperm(PyObject *self, PyObject *args, PyObject *kwargs) {
  long long n;
  tdpy_options options = {.dtype = TD_INT64, .device = TD_CPU};
  td_error error = {0};
  td_tensor *numbers = NULL, *out = NULL;
  if (!PyArg_ParseTuple(args, "L:randperm", &n) || !tdpy_options_read("randperm", kwargs, &options))
    return NULL;
  td_status status = td_op_check_dtype("randperm", options.dtype, &error);
  if (!status) status = td_op_randperm(options.generator, n, &numbers, &error);
  if (!status) status = td_op_to(numbers, options.dtype, options.device, &out, &error);
  td_tensor_unref(numbers);
  return tdpy_check(status, &error) ? finish(out, &options) : NULL;
}

/* randint(low, high, size) */
static PyObject *
randint(PyObject *self, PyObject *args, PyObject *kwargs) {
  long long low, high;
  tdpy_sizes sizes = {0};
  tdpy_options options = {.dtype = TD_INT64, .device = TD_CPU};
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "LLO&:randint", &low, &high, tdpy_sizes_converter, &sizes) ||
      !tdpy_options_read("randint", kwargs, &options))
    return NULL;
  td_status status = td_op_randint(options.generator, low, high, options.dtype, options.device,
                                   sizes.n, sizes.values, &out, &error);
  return tdpy_check(status, &error) ? finish(out, &options) : NULL;
}

TDPY_BY_NAME(tensor, "data")
TDPY_BY_NAME(full, "size", "fill_value")
TDPY_BY_NAME(randperm, "n")
TDPY_BY_NAME(zeros_like, "input")
TDPY_BY_NAME(ones_like, "input")
TDPY_BY_NAME(rand_like, "input")
TDPY_BY_NAME(randn_like, "input")

/* arange(end=3) has no start. */
static PyObject *
arange_by_name(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *const all[] = {"start", "end", "step", NULL}, *const only[] = {"end", NULL};
  bool has_start = PyTuple_GET_SIZE(args) > 0 || (kwargs && PyDict_GetItemString(kwargs, "start"));
  return tdpy_call_by_name(arange, self, args, kwargs, has_start ? all : only);
}

PyMethodDef tdpy_construct_functions[] = {
    {"tensor", TDPY_KEYWORDS(tensor_by_name),
     "A tensor of a number or of nested lists of numbers."},
    {"zeros", TDPY_KEYWORDS(zeros), "A tensor of zeros."},
    {"ones", TDPY_KEYWORDS(ones), "A tensor of ones."},
    {"empty", TDPY_KEYWORDS(zeros), "A tensor whose elements do not matter: zeros."},
    {"full", TDPY_KEYWORDS(full_by_name), "A tensor of one value."},
    {"arange", TDPY_KEYWORDS(arange_by_name),
     "The numbers from start to end, end excluded, by step."},
    {"rand", TDPY_KEYWORDS(rand_), "Uniform random numbers in [0, 1)."},
    {"randn", TDPY_KEYWORDS(randn), "Normal random numbers."},
    {"zeros_like", TDPY_KEYWORDS(zeros_like_by_name), "Zeros of the same size, dtype and device."},
    {"ones_like", TDPY_KEYWORDS(ones_like_by_name), "Ones of the same size, dtype and device."},
    {"rand_like", TDPY_KEYWORDS(rand_like_by_name), "Uniform random numbers of the same size."},
    {"randn_like", TDPY_KEYWORDS(randn_like_by_name), "Normal random numbers of the same size."},
    {"randperm", TDPY_KEYWORDS(randperm_by_name), "A random permutation of 0 .. n - 1."},
    {"randint", TDPY_KEYWORDS(randint), "Random integers from low to high, high excluded."},
    {NULL}};
