/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Methods of Tensor that are about dtype and device (cast_methods.c), for the table in methods.c.
 */
#pragma once

#include "engine/python/tensor_object.h"

/* The function and flags of a method or function with keyword arguments. */
#define TDPY_KEYWORDS(function)                                                                    \
  ((PyCFunction)(void (*)(void))function), METH_VARARGS | METH_KEYWORDS

PyObject *tdpy_method_float(PyObject *self, PyObject *unused);
PyObject *tdpy_method_double(PyObject *self, PyObject *unused);
PyObject *tdpy_method_long(PyObject *self, PyObject *unused);
PyObject *tdpy_method_bool(PyObject *self, PyObject *unused);
PyObject *tdpy_method_to(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_cpu(PyObject *self, PyObject *unused);
