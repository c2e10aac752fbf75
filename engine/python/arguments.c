/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/arguments.h"

#include "engine/ops/pointwise.h"
#include "engine/python/tensor_object.h"
#include "engine/python/types.h"
#include "engine/tensor/factories.h"

#include <string.h>

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

static int
read_option(const char *function, const char *key, PyObject *value, tdpy_options *options) {
  if (strcmp(key, "dtype") == 0) return tdpy_dtype_converter(value, &options->dtype);
  if (strcmp(key, "device") == 0) return tdpy_device_converter(value, &options->device);
  if (strcmp(key, "requires_grad") == 0) {
    options->requires_grad = PyObject_IsTrue(value);
    return options->requires_grad >= 0;
  }
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
  td_tensor *scalar = td_op_scalar(like, number.value, number.is_integer);
  if (scalar->dtype == TD_INT64) *(int64_t *)td_tensor_data(scalar) = number.whole;
  if (!number.is_complex) return scalar;
  bool is_double = like->dtype == TD_FLOAT64 || like->dtype == TD_COMPLEX128;
  td_tensor_unref(scalar);
  scalar = td_tensor_new_scalar(is_double ? TD_COMPLEX128 : TD_COMPLEX64, TD_CPU, 0);
  scalar->is_number = true;
  td_tensor_set_complex(scalar, 0, number.value + number.imaginary * 1.0i);
  return scalar;
}
