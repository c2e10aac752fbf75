/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions behind torch._C._functions. Their nodes fail, or let no gradient through.
 * Beside them stands the root of forward mode. */
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/error_node.h"
#include "engine/torch/graph/forward_root.h"

/* Borrowed tensors of a sequence; NULL for None. */
static bool
read_tensors(PyObject *tuple, td_tensor **tensors) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    if (item == Py_None) continue;
    if (!tdpy_tensor_is(item)) {
      PyErr_Format(PyExc_TypeError, "argument %zd is not a Variable", i);
      return false;
    }
    tensors[i] = tdpy_tensor_of(item);
  }
  return true;
}

/* Takes the tensors. Returns a single one as itself, several as a tuple. */
static PyObject *
wrap_tensors(td_tensor **tensors, Py_ssize_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = tuple ? tdpy_tensor_wrap(tensors[i]) : NULL;
    if (!tuple) td_tensor_unref(tensors[i]);
    if (item)
      PyTuple_SET_ITEM(tuple, i, item);
    else
      Py_CLEAR(tuple);
  }
  if (!tuple || n != 1) return tuple;
  PyObject *only = Py_NewRef(PyTuple_GET_ITEM(tuple, 0));
  Py_DECREF(tuple);
  return only;
}

static PyObject *
wrap_with(PyObject *tuple, const char *text) {
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  td_tensor **inputs = TD_NEW_N(td_tensor *, n + 1), **outputs = TD_NEW_N(td_tensor *, n + 1);
  PyObject *result = NULL;
  if (read_tensors(tuple, inputs)) {
    if (text)
      td_error_node_wrap(TD_AUTOGRAD, text, inputs, (uint32_t)n, outputs);
    else
      td_undefined_grad_wrap(inputs, (uint32_t)n, outputs);
    result = wrap_tensors(outputs, n);
  }
  free(inputs);
  free(outputs);
  return result;
}

/* delayed_error(text, tensors) */
static PyObject *
delayed_error(PyObject *self, PyObject *args) {
  const char *text;
  PyObject *tensors;
  if (!PyArg_ParseTuple(args, "sO!:delayed_error", &text, &PyTuple_Type, &tensors)) return NULL;
  return wrap_with(tensors, text);
}

/* undefined_grad(tensors) */
static PyObject *
undefined_grad(PyObject *self, PyObject *args) {
  PyObject *tensors;
  if (!PyArg_ParseTuple(args, "O!:undefined_grad", &PyTuple_Type, &tensors)) return NULL;
  return wrap_with(tensors, NULL);
}

/* without_derivative(name, text, result, inputs) gives the result a node that fails. */
static PyObject *
without_derivative(PyObject *self, PyObject *args) {
  const char *text;
  PyObject *name, *result, *tuple;
  if (!PyArg_ParseTuple(args, "UsO!O!:without_derivative", &name, &text, &tdpy_tensor_type, &result,
                        &PyTuple_Type, &tuple))
    return NULL;
  PyUnicode_InternInPlace(&name); /* the node has its characters, for ever */
  Py_INCREF(name);
  td_tensor **inputs = TD_NEW_N(td_tensor *, PyTuple_GET_SIZE(tuple) + 1);
  bool fine = read_tensors(tuple, inputs);
  if (fine)
    td_error_node_set(PyUnicode_AsUTF8(name), TD_UNSUPPORTED, text, tdpy_tensor_of(result), inputs,
                      (uint32_t)PyTuple_GET_SIZE(tuple));
  free(inputs);
  return fine ? Py_NewRef(result) : NULL;
}

static PyObject *
forward_root(PyObject *self, PyObject *tensor) {
  if (!tdpy_tensor_is(tensor))
    return PyErr_Format(PyExc_TypeError, "expected a Tensor, not %s", Py_TYPE(tensor)->tp_name);
  return tdpy_tensor_wrap(td_forward_root_wrap(tdpy_tensor_of(tensor)));
}

static PyObject *
forward_root_stop(PyObject *self, PyObject *stop) {
  return PyBool_FromLong(td_forward_root_stop(stop == Py_True));
}

PyMethodDef tdpy_error_functions[] = {
    {"forward_root", forward_root, METH_O, "A dual tensor for forward mode, without its tangent."},
    {"forward_root_stop", forward_root_stop, METH_O, NULL},
    {"delayed_error", delayed_error, METH_VARARGS, NULL},
    {"undefined_grad", undefined_grad, METH_VARARGS, NULL},
    {"without_derivative", without_derivative, METH_VARARGS, NULL},
    {NULL}};
