/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions about dtypes: of results, and of new tensors. */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/tensor/factories.h"

static PyObject *
get_default_dtype(PyObject *self, PyObject *unused) {
  return tdpy_dtype_wrap(td_default_dtype());
}

static PyObject *
set_default_dtype(PyObject *self, PyObject *object) {
  td_dtype dtype;
  if (object == Py_None || !tdpy_dtype_converter(object, &dtype)) return NULL;
  td_default_dtype_set(dtype);
  Py_RETURN_NONE;
}

static bool
read_two(PyObject *args, td_dtype dtypes[2]) {
  dtypes[0] = dtypes[1] = TD_FLOAT32;
  return PyArg_ParseTuple(args, "O&O&", tdpy_dtype_converter, &dtypes[0], tdpy_dtype_converter,
                          &dtypes[1]);
}

static PyObject *
promote_types(PyObject *self, PyObject *args) {
  td_dtype two[2];
  return read_two(args, two) ? tdpy_dtype_wrap(td_op_wider(two[0], two[1])) : NULL;
}

static PyObject *
can_cast(PyObject *self, PyObject *args) {
  td_dtype two[2];
  return read_two(args, two) ? PyBool_FromLong(td_op_can_cast(two[0], two[1])) : NULL;
}

static PyObject *
scalar_type(PyObject *self, PyObject *object) {
  td_dtype dtype = TD_FLOAT32;
  return tdpy_dtype_converter(object, &dtype) ? PyUnicode_FromString(td_op_scalar_type(dtype))
                                              : NULL;
}

/* A number stands beside nothing: it has the default dtype of its kind. */
static td_tensor *
operand(PyObject *object) {
  static const td_tensor boolean = {.dtype = TD_BOOL};
  td_tensor *tensor = tdpy_operand(object, &boolean);
  if (!tensor)
    PyErr_Format(PyExc_TypeError, "result_type(): argument must be Tensor or Number, not %s",
                 Py_TYPE(object)->tp_name);
  return tensor;
}

static PyObject *
result_type(PyObject *self, PyObject *args) {
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO:result_type", &first, &second)) return NULL;
  td_tensor *a = operand(first), *b = a ? operand(second) : NULL;
  PyObject *dtype = b ? tdpy_dtype_wrap(td_op_promote(a, b)) : NULL;
  td_tensor_unref(a);
  td_tensor_unref(b);
  return dtype;
}

PyMethodDef tdpy_dtype_functions[] = {
    {"default_dtype", get_default_dtype, METH_NOARGS, NULL},
    {"set_default_dtype", set_default_dtype, METH_O, NULL},
    {"promote_types", promote_types, METH_VARARGS, "The dtype of what two dtypes make together."},
    {"can_cast", can_cast, METH_VARARGS, "Whether results may be written into this dtype."},
    {"result_type", result_type, METH_VARARGS, "The dtype of arithmetic with both."},
    {"scalar_type", scalar_type, METH_O, "A dtype's name in texts: Float."},
    {NULL}};
