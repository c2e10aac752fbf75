/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Methods of Tensor that are about dtype and device, for the table in methods.c. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *tdpy_method_float(PyObject *self, PyObject *unused);
PyObject *tdpy_method_double(PyObject *self, PyObject *unused);
PyObject *tdpy_method_long(PyObject *self, PyObject *unused);
PyObject *tdpy_method_bool(PyObject *self, PyObject *unused);
PyObject *tdpy_method_to(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_cpu(PyObject *self, PyObject *unused);
