/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/convert.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/shape/shape.h"

#include "engine/torch/binding/stream.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include <complex.h>
#include <string.h>

/* What the first walk through the data learns. */
typedef struct survey {
  tdpy_sizes sizes;
  bool any_complex, any_float, any_integer, any_bool;
} survey;

static bool
is_sequence(PyObject *data) {
  return PyList_Check(data) || PyTuple_Check(data);
}

static int
survey_shape(PyObject *data, survey *found) {
  while (is_sequence(data)) {
    if (found->sizes.n == TD_MAX_DIMS) {
      PyErr_SetString(PyExc_ValueError, "too many dimensions");
      return 0;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(data);
    found->sizes.values[found->sizes.n++] = n;
    if (n == 0) break;
    data = PySequence_Fast_GET_ITEM(data, 0);
  }
  return 1;
}

int
tdpy_tensor_has_item(const td_tensor *tensor) {
  if (td_tensor_has_data(tensor)) {
    td_cut_history(tensor, TD_cut_kind_item);
    return tdpy_tensor_read(tensor);
  }
  PyErr_SetString(PyExc_RuntimeError, "Tensor.item() cannot be called on meta tensors");
  return 0;
}

int
tdpy_tensor_is_single(const td_tensor *tensor) {
  if (td_tensor_n_elements(tensor) == 1) return tdpy_tensor_has_item(tensor);
  PyErr_SetString(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  return 0;
}

static int
read_scalar(PyObject *data, tdpy_number *number) {
  if (tdpy_tensor_is(data) && td_tensor_n_elements(tdpy_tensor_of(data)) == 1) {
    const td_tensor *tensor = tdpy_tensor_of(data);
    if (!tdpy_tensor_has_item(tensor)) return 0;
    *number = (tdpy_number){.value = td_tensor_item(tensor),
                            .imaginary = cimag(td_tensor_get_complex(tensor, 0)),
                            .is_complex = td_dtype_is_complex(tensor->dtype),
                            .is_integer = !td_dtype_is_differentiable(tensor->dtype),
                            .is_bool = tensor->dtype == TD_BOOL};
    return 1;
  }
  if (tdpy_tensor_is(data)) return tdpy_tensor_is_single(tdpy_tensor_of(data));
  if (tdpy_number_read(data, number)) return 1;
  bool is_text = PyUnicode_Check(data) || PyBytes_Check(data);
  const char *name = data == Py_None ? "NoneType" : Py_TYPE(data)->tp_name;
  PyErr_Format(is_text ? PyExc_TypeError : PyExc_RuntimeError,
               is_text ? "new(): invalid data type '%s'" : "Could not infer dtype of %s", name);
  return 0;
}

static int
survey_kinds(PyObject *data, int dim, survey *found) {
  tdpy_number number;
  if (dim == found->sizes.n) {
    if (!read_scalar(data, &number)) return 0;
    if (number.is_complex)
      found->any_complex = true;
    else if (number.is_bool)
      found->any_bool = true;
    else if (number.is_integer)
      found->any_integer = true;
    else
      found->any_float = true;
    return 1;
  }
  if (!is_sequence(data) || PySequence_Fast_GET_SIZE(data) != found->sizes.values[dim]) {
    PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                 (long long)found->sizes.values[dim], dim,
                 is_sequence(data) ? PySequence_Fast_GET_SIZE(data) : 0);
    return 0;
  }
  for (Py_ssize_t i = 0; i < found->sizes.values[dim]; i++)
    if (!survey_kinds(PySequence_Fast_GET_ITEM(data, i), dim + 1, found)) return 0;
  return 1;
}

static int
store_integer(td_tensor *tensor, int64_t index, PyObject *data) {
  long long value = PyLong_AsLongLong(data);
  if (value == -1 && PyErr_Occurred()) return 0;
  ((int64_t *)td_tensor_data(tensor))[index] = value;
  return 1;
}

/* Raises Python's errors: PyTorch has Python convert the number. */
static bool
takes_complex(td_dtype dtype) {
  if (td_dtype_is_complex(dtype) || dtype == TD_BOOL) return true;
  PyErr_SetString(PyExc_TypeError, td_dtype_is_differentiable(dtype)
                                       ? "must be real number, not complex"
                                       : "'complex' object cannot be interpreted as an integer");
  return false;
}

/* Row-major, as the tensor is; `index` counts the elements stored. Large integers keep all their
 * bits. */
static int
store(PyObject *data, int dim, td_tensor *tensor, int64_t *index) {
  tdpy_number number;
  if (dim == tensor->n_dims) {
    if (tensor->dtype == TD_INT64 && PyLong_Check(data))
      return store_integer(tensor, (*index)++, data);
    td_error error = {0};
    if (!read_scalar(data, &number)) return 0;
    if (PyComplex_Check(data) && !takes_complex(tensor->dtype)) return 0;
    td_status status = td_op_check_number(tensor->dtype, number.value, "", &error);
    if (!tdpy_check(status, &error)) return 0;
    td_tensor_set_complex(tensor, (*index)++, CMPLX(number.value, number.imaginary));
    return 1;
  }
  for (Py_ssize_t i = 0; i < tensor->sizes[dim]; i++)
    if (!store(PySequence_Fast_GET_ITEM(data, i), dim + 1, tensor, index)) return 0;
  return 1;
}

static td_dtype
inferred_dtype(const survey *found) {
  if (found->any_complex) return TD_COMPLEX64;
  if (found->any_integer && !found->any_float) return TD_INT64;
  return found->any_bool && !found->any_float ? TD_BOOL : td_default_dtype();
}

static td_tensor *
copy_of(td_tensor *source, int dtype, td_device device) {
  td_error error = {0};
  td_tensor *plain = td_tensor_detach(source), *copy = NULL, *out = NULL;
  td_status status = td_op_clone(plain, &copy, &error);
  if (!status)
    status = td_op_to(copy, dtype < 0 ? source->dtype : (td_dtype)dtype, device, &out, &error);
  td_tensor_unref(copy);
  td_tensor_unref(plain);
  return tdpy_check(status, &error) ? out : NULL;
}

/* An array or a scalar of numpy, or a list that begins with one. */
static bool
is_of_numpy(PyObject *data) {
  while (is_sequence(data) && PySequence_Fast_GET_SIZE(data) > 0)
    data = PySequence_Fast_GET_ITEM(data, 0);
  return strncmp(Py_TYPE(data)->tp_name, "numpy.", strlen("numpy.")) == 0;
}

/* A range, or another sequence that is not of Python's own kinds. */
static bool
is_other_sequence(PyObject *data) {
  return PySequence_Check(data) && !is_sequence(data) && !PyUnicode_Check(data) &&
         !PyBytes_Check(data) && !PyDict_Check(data);
}

static td_tensor *
from_numpy(PyObject *data, int dtype, td_device device) {
  PyObject *module = PyImport_ImportModule("torch._arrays");
  PyObject *tensor = module ? PyObject_CallMethod(module, "of_data", "(O)", data) : NULL;
  td_tensor *copy = tensor ? copy_of(tdpy_tensor_of(tensor), dtype, device) : NULL;
  Py_XDECREF(tensor);
  Py_XDECREF(module);
  return copy;
}

td_tensor *
tdpy_tensor_from_data(PyObject *data, int dtype, td_device device) {
  if (tdpy_tensor_is(data)) return copy_of(tdpy_tensor_of(data), dtype, device);
  if (is_of_numpy(data)) return from_numpy(data, dtype, device);
  if (is_other_sequence(data)) {
    PyObject *list = PySequence_List(data);
    td_tensor *made = list ? tdpy_tensor_from_data(list, dtype, device) : NULL;
    Py_XDECREF(list);
    return made;
  }
  survey found = {0};
  td_error error = {0};
  td_tensor *tensor = NULL;
  int64_t index = 0;
  if (!survey_shape(data, &found) || !survey_kinds(data, 0, &found)) return NULL;
  td_dtype kind = dtype < 0 ? inferred_dtype(&found) : (td_dtype)dtype;
  td_status status =
      td_tensor_new(kind, device, found.sizes.n, found.sizes.values, &tensor, &error);
  if (!tdpy_check(status, &error)) return NULL;
  if (store(data, 0, tensor, &index)) return tensor;
  td_tensor_unref(tensor);
  return NULL;
}

PyObject *
tdpy_element(const td_tensor *tensor, int64_t index) {
  if (tensor->dtype == TD_INT64) return PyLong_FromLongLong(td_tensor_get_integer(tensor, index));
  if (td_dtype_is_complex(tensor->dtype)) {
    td_complex128 number = td_tensor_get_complex(tensor, index);
    return PyComplex_FromDoubles(creal(number), cimag(number));
  }
  double value = td_tensor_get(tensor, index);
  if (tensor->dtype == TD_BOOL) return PyBool_FromLong(value != 0);
  return td_dtype_is_floating(tensor->dtype) ? PyFloat_FromDouble(value) : PyLong_FromDouble(value);
}

static PyObject *
list_of(const td_tensor *tensor, int dim, int64_t *index) {
  if (dim == tensor->n_dims) return tdpy_element(tensor, (*index)++);
  PyObject *list = PyList_New(tensor->sizes[dim]);
  for (int64_t i = 0; list && i < tensor->sizes[dim]; i++) {
    PyObject *item = list_of(tensor, dim + 1, index);
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject *
tdpy_tensor_to_list(const td_tensor *tensor) {
  td_error error = {0};
  if (!tdpy_check(td_kernel_check_source(tensor, TD_CPU, &error), &error)) return NULL;
  if (!tdpy_tensor_read(tensor)) return NULL;
  int64_t index = 0;
  return list_of(tensor, 0, &index);
}
