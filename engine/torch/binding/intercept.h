/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Somebody may watch the calls of operations that a thread makes from Python. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* What is called in place of an operation, with (name, arguments, keywords); NULL: nothing. It
 * makes the call itself, and is not called meanwhile. */
extern _Thread_local PyObject *tdpy_interceptor;

/* The first statement of an operation. self may be NULL. */
#define TDPY_INTERCEPT(name, self, args, kwargs)                                                   \
  do {                                                                                             \
    if (__builtin_expect(tdpy_interceptor != NULL, 0))                                             \
      return tdpy_intercept(name, self, args, kwargs);                                             \
  } while (0)
/* The same of an operator: other may be NULL. */
#define TDPY_INTERCEPT_OPERATOR(name, self, other)                                                 \
  do {                                                                                             \
    if (__builtin_expect(tdpy_interceptor != NULL, 0))                                             \
      return tdpy_intercept_operator("operator." name, self, other);                               \
  } while (0)

PyObject *tdpy_intercept(const char *name, PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_intercept_operator(const char *name, PyObject *self, PyObject *other);

extern PyMethodDef tdpy_intercept_functions[];
