/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/intercept.h"

_Thread_local PyObject *tdpy_interceptor; /* (owned reference) */

/* Takes args. */
static PyObject *
call(const char *name, PyObject *args, PyObject *kwargs) {
  PyObject *function = tdpy_interceptor;
  PyObject *result = NULL;
  if (!args) return NULL;
  tdpy_interceptor = NULL;
  result = PyObject_CallFunction(function, "sOO", name, args, kwargs ? kwargs : Py_None);
  Py_XSETREF(tdpy_interceptor, function);
  Py_DECREF(args);
  return result;
}

PyObject *
tdpy_intercept(const char *name, PyObject *self, PyObject *args, PyObject *kwargs) {
  if (!self) return call(name, Py_NewRef(args), kwargs);
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  PyObject *all = PyTuple_New(n + 1);
  if (!all) return NULL;
  PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < n; i++)
    PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
  return call(name, all, kwargs);
}

PyObject *
tdpy_intercept_operator(const char *name, PyObject *self, PyObject *other) {
  return call(name, other ? PyTuple_Pack(2, self, other) : PyTuple_Pack(1, self), NULL);
}

/* intercept(function or None) returns what was there before. */
static PyObject *
set_interceptor(PyObject *self, PyObject *function) {
  PyObject *before = tdpy_interceptor;
  tdpy_interceptor = function == Py_None ? NULL : Py_NewRef(function);
  return before ? before : Py_NewRef(Py_None);
}

PyMethodDef tdpy_intercept_functions[] = {{"_intercept", set_interceptor, METH_O,
                                           "Sets what this thread calls in place of an operation, "
                                           "with its name, arguments and keywords."},
                                          {NULL}};
