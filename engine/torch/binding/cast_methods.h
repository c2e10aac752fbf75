/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Methods of Tensor that are about dtype and device, for the table in methods.c. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* X(method, dtype) */
#define TDPY_CASTS(X)                                                                              \
  X(float, FLOAT32)                                                                                \
  X(double, FLOAT64)                                                                               \
  X(half, FLOAT16)                                                                                 \
  X(bfloat16, BFLOAT16)                                                                            \
  X(long, INT64)                                                                                   \
  X(int, INT32)                                                                                    \
  X(short, INT16)                                                                                  \
  X(char, INT8)                                                                                    \
  X(byte, UINT8)                                                                                   \
  X(bool, BOOL)                                                                                    \
  X(cfloat, COMPLEX64)                                                                             \
  X(cdouble, COMPLEX128)
#define X(name, dtype) PyObject *tdpy_method_##name(PyObject *self, PyObject *unused);
TDPY_CASTS(X)
#undef X
PyObject *tdpy_method_to(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_cpu(PyObject *self, PyObject *unused);
