/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations in place, and methods about views. Each operation returns self, as a new reference. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *tdpy_inplace_add(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_sub(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_mul(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_div(PyObject *self, PyObject *other);
PyObject *tdpy_in_place(PyObject *module, PyObject *args);
PyObject *tdpy_inplace_and(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_or(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_xor(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_lshift(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_rshift(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_remainder(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_floor_divide(PyObject *self, PyObject *other);
PyObject *tdpy_inplace_pow(PyObject *self, PyObject *exponent, PyObject *modulus);

/* Rows of Tensor's table of methods. Below them are those of unary.def (exp_ and others) and of
 * inplace.def (clamp_ and others). */
PyObject *tdpy_method_add_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_sub_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_mul_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_div_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_copy_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_fill_(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *tdpy_method_zero_(PyObject *self, PyObject *unused);
PyObject *tdpy_method_detach_(PyObject *self, PyObject *unused);
PyObject *tdpy_method_is_view(PyObject *self, PyObject *unused);
PyObject *tdpy_method_is_inference(PyObject *self, PyObject *unused);

#define TD_UNARY(name, ...) PyObject *tdpy_unary_##name##_(PyObject *self, PyObject *unused);
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY
#define TD_IN_PLACE(name)                                                                          \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs);
#define TD_IN_PLACE_VIEW(name, ...)                                                                \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs);
#include "engine/torch/binding/inplace.def"
#undef TD_IN_PLACE
#undef TD_IN_PLACE_VIEW
