/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Updates of tensors in place, as optimizers and initialisation need them: without history. Each
 * returns self, as a new reference. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *tdpy_inplace_add(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_sub(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_mul(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_div(PyObject *self, PyObject *other);

/* Rows of the method table of Tensor: add_, sub_, mul_, div_, copy_, fill_, zero_, uniform_,
 * normal_. */
PyObject *tdpy_method_add_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_sub_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_copy_(PyObject *self, PyObject *source);
PyObject *tdpy_method_fill_(PyObject *self, PyObject *value);
PyObject *tdpy_method_zero_(PyObject *self, PyObject *unused);
PyObject *tdpy_method_uniform_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_normal_(PyObject *self, PyObject *args, PyObject *kwargs);
