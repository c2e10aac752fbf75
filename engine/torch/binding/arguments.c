/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/arguments.h"

#include "engine/torch/binding/generator.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/tensor/factories.h"

#include <complex.h>
#include <string.h>

/* The arguments, and behind them what `left` has under the next names, which leave it. */
static PyObject *
with_named(PyObject *args, PyObject *left, const char *const names[]) {
  PyObject *all = PySequence_List(args), *value = NULL;
  for (Py_ssize_t i = 0; all && names[i]; i++) {
    if (i < PyTuple_GET_SIZE(args)) continue;
    if (!(value = PyDict_GetItemString(left, names[i]))) break;
    if (PyList_Append(all, value) || PyDict_DelItemString(left, names[i])) Py_CLEAR(all);
  }
  PyObject *tuple = all ? PyList_AsTuple(all) : NULL;
  Py_XDECREF(all);
  return tuple;
}

PyObject *
tdpy_call_by_name(PyCFunctionWithKeywords function, PyObject *self, PyObject *args,
                  PyObject *kwargs, const char *const names[]) {
  if (!kwargs) return function(self, args, NULL);
  PyObject *left = PyDict_Copy(kwargs);
  PyObject *all = left ? with_named(args, left, names) : NULL;
  PyObject *result = all ? function(self, all, PyDict_GET_SIZE(left) ? left : NULL) : NULL;
  Py_XDECREF(all);
  Py_XDECREF(left);
  return result;
}

const char *
tdpy_type_name(PyObject *object) {
  return tdpy_tensor_is(object) ? _PyType_Name(Py_TYPE(object)) : Py_TYPE(object)->tp_name;
}

int
tdpy_tensor_converter(PyObject *object, void *tensor) {
  if (tdpy_tensor_is(object)) {
    *(td_tensor **)tensor = tdpy_tensor_of(object);
    return 1;
  }
  PyErr_Format(PyExc_TypeError, "expected a Tensor, not %s", Py_TYPE(object)->tp_name);
  return 0;
}

int
tdpy_optional_tensor_converter(PyObject *object, void *tensor) {
  return object == Py_None || tdpy_tensor_converter(object, tensor);
}

int
tdpy_int_converter(PyObject *object, void *value) {
  if (object == Py_None) return 1;
  long long number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred()) return 0;
  *(int64_t *)value = number;
  return 1;
}

static int
sizes_from_sequence(PyObject *sequence, tdpy_sizes *sizes) {
  PyObject *fast = PySequence_Fast(sequence, "sizes must be an int or a sequence of ints");
  if (!fast) return 0;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
  int fine = n <= TD_MAX_DIMS;
  if (!fine) PyErr_Format(PyExc_RuntimeError, "at most %d dimensions are supported", TD_MAX_DIMS);
  for (Py_ssize_t i = 0; fine && i < n; i++)
    fine = tdpy_int_converter(PySequence_Fast_GET_ITEM(fast, i), &sizes->values[i]);
  sizes->n = (int)n;
  Py_DECREF(fast);
  return fine;
}

int
tdpy_sizes_converter(PyObject *object, void *sizes) {
  if (object == Py_None) return 1;
  if (!PyIndex_Check(object) || tdpy_tensor_is(object)) return sizes_from_sequence(object, sizes);
  ((tdpy_sizes *)sizes)->n = 1;
  return tdpy_int_converter(object, ((tdpy_sizes *)sizes)->values);
}

int
tdpy_sizes_from_args(PyObject *args, tdpy_sizes *sizes) {
  if (PyTuple_GET_SIZE(args) == 1) return tdpy_sizes_converter(PyTuple_GET_ITEM(args, 0), sizes);
  return sizes_from_sequence(args, sizes);
}

int
tdpy_pair_converter(PyObject *object, void *pair) {
  tdpy_sizes sizes = {0};
  int64_t *values = pair;
  if (object == Py_None) return 1;
  if (!tdpy_sizes_converter(object, &sizes)) return 0;
  if (sizes.n != 1 && sizes.n != 2) {
    PyErr_SetString(PyExc_TypeError, "expected an int or a pair of ints");
    return 0;
  }
  values[0] = sizes.values[0];
  values[1] = sizes.values[sizes.n - 1];
  return 1;
}

bool
tdpy_number_read(PyObject *object, tdpy_number *number) {
  if (tdpy_tensor_is(object)) return false;
  *number = (tdpy_number){.is_complex = PyComplex_Check(object)};
  if (number->is_complex) {
    number->value = PyComplex_RealAsDouble(object);
    number->imaginary = PyComplex_ImagAsDouble(object);
    return true;
  }
  number->is_bool = PyBool_Check(object);
  number->is_integer = PyIndex_Check(object);
  if (!PyFloat_Check(object) && !number->is_integer &&
      !(Py_TYPE(object)->tp_as_number && Py_TYPE(object)->tp_as_number->nb_float))
    return false;
  number->value = PyFloat_AsDouble(object);
  if (number->value != -1 || !PyErr_Occurred()) {
    if (number->is_integer) number->whole = (int64_t)PyLong_AsUnsignedLongLongMask(object);
    return true;
  }
  PyErr_Clear();
  return false;
}

/* What changes nothing on this engine. */
static bool
is_without_effect(const char *key) {
  static const char *const keys[] = {"pin_memory", "memory_format", "non_blocking"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

/* New tensors are dense. A program that asks for another layout hears so. */
static int
check_layout(const char *function, const PyObject *layout) {
  PyObject *dense = tdpy_layout_wrap(false);
  Py_DECREF(dense);
  if (layout == Py_None || layout == dense) return 1;
  PyErr_Format(PyExc_NotImplementedError,
               "%s() with another layout than torch.strided is not "
               "supported",
               function);
  return 0;
}

static int
read_option(const char *function, const char *key, PyObject *value, tdpy_options *options) {
  if (strcmp(key, "dtype") == 0) return tdpy_dtype_converter(value, &options->dtype);
  if (strcmp(key, "device") == 0) return tdpy_device_converter(value, &options->device);
  if (strcmp(key, "requires_grad") == 0) {
    options->requires_grad = PyObject_IsTrue(value);
    return options->requires_grad >= 0;
  }
  if (strcmp(key, "generator") == 0) return tdpy_generator_converter(value, &options->generator);
  if (strcmp(key, "size") == 0 && options->sizes)
    return tdpy_sizes_converter(value, options->sizes);
  if (strcmp(key, "layout") == 0) return check_layout(function, value);
  if (is_without_effect(key)) return 1;
  PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'", function, key);
  return 0;
}

int
tdpy_options_read(const char *function, PyObject *kwargs, tdpy_options *options) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (kwargs && PyDict_Next(kwargs, &position, &key, &value)) {
    const char *name = PyUnicode_AsUTF8(key);
    if (!name || !read_option(function, name, value, options)) return 0;
  }
  return 1;
}

td_tensor *
tdpy_operand(PyObject *object, const td_tensor *like) {
  tdpy_number number;
  if (tdpy_tensor_is(object)) return td_tensor_ref(tdpy_tensor_of(object));
  if (!tdpy_number_read(object, &number)) return NULL;
  if (number.is_bool) {
    td_tensor *truth = td_tensor_new_scalar(TD_BOOL, TD_CPU, number.value);
    truth->is_number = true;
    return truth;
  }
  if (number.is_complex) return td_op_complex_scalar(like, CMPLX(number.value, number.imaginary));
  td_tensor *scalar = td_op_scalar(like, number.value, number.is_integer);
  if (scalar->dtype == TD_INT64) *(int64_t *)td_tensor_data(scalar) = number.whole;
  return scalar;
}

bool
tdpy_note_failure(uint32_t n, td_tensor *const *operands) {
  bool tracked = false;
  for (uint32_t i = 0; i < n && !tracked; i++)
    tracked = operands[i] && td_requires_grad(operands[i]);
  tracked = tracked && td_grad_mode() && !td_inference_mode();
  if (tracked) td_sequence_nr_next();
  for (uint32_t i = 0; i < n && tracked; i++)
    if (operands[i]) td_grad_fn(operands[i]);
  return tracked;
}
