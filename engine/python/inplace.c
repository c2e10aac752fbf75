/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/inplace.h"

#include "engine/ops/pointwise.h"
#include "engine/ops/random.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/tensor_object.h"

typedef td_status (*update)(td_tensor *self, td_tensor *other, td_error *error);

static PyObject *
self_or_error(PyObject *self, td_status status, td_error *error) {
  return tdpy_check(status, error) ? Py_NewRef(self) : NULL;
}

static PyObject *
apply(PyObject *self, PyObject *other, update op) {
  td_error error = {0};
  td_tensor *operand = tdpy_operand(other, tdpy_tensor_of(self));
  if (!operand) Py_RETURN_NOTIMPLEMENTED;
  td_status status = op(tdpy_tensor_of(self), operand, &error);
  td_tensor_unref(operand);
  return self_or_error(self, status, &error);
}

static td_status
add(td_tensor *self, td_tensor *other, td_error *error) {
  return td_op_add_into(self, other, 1, error);
}

static td_status
sub(td_tensor *self, td_tensor *other, td_error *error) {
  return td_op_add_into(self, other, -1, error);
}

static td_status
div_(td_tensor *self, td_tensor *other, td_error *error) {
  td_tensor *a = td_tensor_detach(self), *b = td_tensor_detach(other), *quotient = NULL;
  td_status status = td_op_div(a, b, &quotient, error);
  if (!status) status = td_op_copy_into(self, quotient, error);
  td_tensor_unref(quotient);
  td_tensor_unref(b);
  td_tensor_unref(a);
  return status;
}

PyObject *
tdpy_inplace_add(PyObject *self, PyObject *other) {
  return apply(self, other, add);
}

PyObject *
tdpy_inplace_sub(PyObject *self, PyObject *other) {
  return apply(self, other, sub);
}

PyObject *
tdpy_inplace_mul(PyObject *self, PyObject *other) {
  return apply(self, other, td_op_mul_into);
}

PyObject *
tdpy_inplace_div(PyObject *self, PyObject *other) {
  return apply(self, other, div_);
}

static PyObject *
add_scaled(PyObject *self, PyObject *args, PyObject *kwargs, double sign) {
  static char *names[] = {"other", "alpha", NULL};
  PyObject *other;
  double alpha = 1;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$d", names, &other, &alpha)) return NULL;
  td_tensor *operand = tdpy_operand(other, tdpy_tensor_of(self));
  if (!operand)
    return PyErr_Format(PyExc_TypeError, "expected a Tensor or a number, not %s",
                        Py_TYPE(other)->tp_name);
  td_status status = td_op_add_into(tdpy_tensor_of(self), operand, sign * alpha, &error);
  td_tensor_unref(operand);
  return self_or_error(self, status, &error);
}

PyObject *
tdpy_method_add_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return add_scaled(self, args, kwargs, 1);
}

PyObject *
tdpy_method_sub_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return add_scaled(self, args, kwargs, -1);
}

PyObject *
tdpy_method_copy_(PyObject *self, PyObject *source) {
  return apply(self, source, td_op_copy_into);
}

PyObject *
tdpy_method_fill_(PyObject *self, PyObject *value) {
  return apply(self, value, td_op_copy_into);
}

PyObject *
tdpy_method_zero_(PyObject *self, PyObject *unused) {
  td_error error = {0};
  return self_or_error(self, td_op_fill_into(tdpy_tensor_of(self), 0, &error), &error);
}

PyObject *
tdpy_method_uniform_(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"from", "to", NULL};
  double from = 0, to = 1;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|dd:uniform_", names, &from, &to)) return NULL;
  return self_or_error(self, td_op_uniform_into(tdpy_tensor_of(self), from, to, &error), &error);
}

PyObject *
tdpy_method_normal_(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"mean", "std", NULL};
  double mean = 0, std = 1;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|dd:normal_", names, &mean, &std)) return NULL;
  return self_or_error(self, td_op_normal_into(tdpy_tensor_of(self), mean, std, &error), &error);
}
