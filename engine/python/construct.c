/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions that make tensors. */
#include "engine/python/arguments.h"
#include "engine/python/convert.h"
#include "engine/python/errors.h"
#include "engine/python/module.h"
#include "engine/python/types.h"

#include "engine/graph/grad_fn.h"
#include "engine/graph/variable.h"
#include "engine/ops/random.h"
#include "engine/tensor/factories.h"
#include "engine/tensor/kernels.h"

#include <math.h>

typedef td_status (*filler)(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
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
  tdpy_options options = {.dtype = TD_FLOAT32, .device = TD_CPU};
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!tdpy_sizes_from_args(args, &sizes) || !tdpy_options_read(name, kwargs, &options))
    return NULL;
  td_status status = fill(options.dtype, options.device, sizes.n, sizes.values, &tensor, &error);
  return tdpy_check(status, &error) ? finish(tensor, &options) : NULL;
}

static td_status
fill_ones(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes, td_tensor **out,
          td_error *error) {
  td_status status = td_tensor_new(dtype, device, n_dims, sizes, out, error);
  if (!status) td_kernel_fill(*out, 1);
  return status;
}

static PyObject *
zeros(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("zeros", args, kwargs, td_tensor_new);
}

static PyObject *
ones(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("ones", args, kwargs, fill_ones);
}

static PyObject *
rand_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("rand", args, kwargs, td_op_rand);
}

static PyObject *
randn(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_sized("randn", args, kwargs, td_op_randn);
}

static PyObject *
make_like(const char *name, PyObject *args, PyObject *kwargs, filler fill) {
  td_tensor *like, *tensor = NULL;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&", tdpy_tensor_converter, &like)) return NULL;
  tdpy_options options = {.dtype = like->dtype, .device = like->device};
  if (!tdpy_options_read(name, kwargs, &options)) return NULL;
  td_status status =
      fill(options.dtype, options.device, like->n_dims, like->sizes, &tensor, &error);
  return tdpy_check(status, &error) ? finish(tensor, &options) : NULL;
}

static PyObject *
zeros_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("zeros_like", args, kwargs, td_tensor_new);
}

static PyObject *
ones_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("ones_like", args, kwargs, fill_ones);
}

static PyObject *
rand_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("rand_like", args, kwargs, td_op_rand);
}

static PyObject *
randn_like(PyObject *self, PyObject *args, PyObject *kwargs) {
  return make_like("randn_like", args, kwargs, td_op_randn);
}

static td_dtype
dtype_of_number(const tdpy_number *number) {
  if (number->is_bool) return TD_BOOL;
  return number->is_integer ? TD_INT64 : TD_FLOAT32;
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
  td_status status =
      td_tensor_new(options.dtype, options.device, sizes.n, sizes.values, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  td_kernel_fill(tensor, number.value);
  return finish(tensor, &options);
}

/* start, end, step as given: arange(end), arange(start, end), arange(start, end, step). */
static bool
read_range(PyObject *args, tdpy_number range[3]) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  range[0] = (tdpy_number){.value = 0, .is_integer = true};
  range[2] = (tdpy_number){.value = 1, .is_integer = true};
  bool fine = n >= 1 && n <= 3;
  for (Py_ssize_t i = 0; fine && i < n; i++)
    fine = tdpy_number_read(PyTuple_GET_ITEM(args, i), &range[n == 1 ? 1 : i]);
  if (!fine) PyErr_SetString(PyExc_TypeError, "arange() takes one to three numbers");
  return fine;
}

static PyObject *
arange(PyObject *self, PyObject *args, PyObject *kwargs) {
  tdpy_number range[3];
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!read_range(args, range)) return NULL;
  bool integers = range[0].is_integer && range[1].is_integer && range[2].is_integer;
  tdpy_options options = {.dtype = integers ? TD_INT64 : TD_FLOAT32, .device = TD_CPU};
  if (!tdpy_options_read("arange", kwargs, &options)) return NULL;
  double steps = ceil((range[1].value - range[0].value) / range[2].value);
  if (!(steps >= 0) || steps > 1e15)
    return PyErr_Format(PyExc_RuntimeError,
                        "upper bound and larger bound inconsistent with step sign");
  int64_t n = (int64_t)steps;
  td_status status = td_tensor_new(options.dtype, options.device, 1, &n, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  for (int64_t i = 0; i < n; i++)
    td_tensor_set(tensor, i, range[0].value + (double)i * range[2].value);
  return finish(tensor, &options);
}

static PyObject *
tensor(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *data;
  tdpy_options options = {.dtype = TD_N_DTYPES, .device = TD_CPU};
  if (!PyArg_ParseTuple(args, "O:tensor", &data) || !tdpy_options_read("tensor", kwargs, &options))
    return NULL;
  td_tensor *made = tdpy_tensor_from_data(
      data, options.dtype == TD_N_DTYPES ? -1 : (int)options.dtype, options.device);
  return made ? finish(made, &options) : NULL;
}

static PyObject *
manual_seed(PyObject *self, PyObject *seed) {
  unsigned long long value = PyLong_AsUnsignedLongLongMask(seed);
  if (PyErr_Occurred()) return NULL;
  td_manual_seed(value);
  Py_RETURN_NONE;
}

static PyObject *
randperm(PyObject *self, PyObject *args) {
  long long n;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "L:randperm", &n)) return NULL;
  td_status status = td_op_randperm(n, &out, &error);
  return tdpy_result(status, out, &error);
}

/* The state is opaque bytes. */
static PyObject *
get_rng_state(PyObject *self, PyObject *unused) {
  td_generator_state state;
  td_generator_get(&state);
  return PyBytes_FromStringAndSize((const char *)&state, sizeof state);
}

static PyObject *
set_rng_state(PyObject *self, PyObject *bytes) {
  td_generator_state state;
  if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != sizeof state)
    return PyErr_Format(PyExc_TypeError, "expected what get_rng_state() returned");
  memcpy(&state, PyBytes_AS_STRING(bytes), sizeof state);
  if (state.next < 0 || state.next > TD_GENERATOR_WORDS)
    return PyErr_Format(PyExc_RuntimeError, "this is no state of the generator");
  td_generator_set(&state);
  Py_RETURN_NONE;
}

PyMethodDef tdpy_construct_functions[] = {
    {"tensor", TDPY_KEYWORDS(tensor), "A tensor of a number or of nested lists of numbers."},
    {"zeros", TDPY_KEYWORDS(zeros), "A tensor of zeros."},
    {"ones", TDPY_KEYWORDS(ones), "A tensor of ones."},
    {"empty", TDPY_KEYWORDS(zeros), "A tensor whose elements do not matter: zeros."},
    {"full", TDPY_KEYWORDS(full), "A tensor of one value."},
    {"arange", TDPY_KEYWORDS(arange), "The numbers from start to end, end excluded, by step."},
    {"rand", TDPY_KEYWORDS(rand_), "Uniform random numbers in [0, 1)."},
    {"randn", TDPY_KEYWORDS(randn), "Normal random numbers."},
    {"zeros_like", TDPY_KEYWORDS(zeros_like), "Zeros of the same size, dtype and device."},
    {"ones_like", TDPY_KEYWORDS(ones_like), "Ones of the same size, dtype and device."},
    {"rand_like", TDPY_KEYWORDS(rand_like), "Uniform random numbers of the same size."},
    {"randn_like", TDPY_KEYWORDS(randn_like), "Normal random numbers of the same size."},
    {"randperm", randperm, METH_VARARGS, "A random permutation of 0 .. n - 1."},
    {"seed_generator", manual_seed, METH_O, NULL},
    {"get_rng_state", get_rng_state, METH_NOARGS, "Where the generator of random numbers is."},
    {"set_rng_state", set_rng_state, METH_O, "Goes back to where get_rng_state() was called."},
    {NULL}};
