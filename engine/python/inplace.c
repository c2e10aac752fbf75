/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/inplace.h"

#include "engine/graph/cut_history.h"
#include "engine/graph/in_place.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"
#include "engine/ops/inplace.h"
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
  return td_op_sub_into(self, other, 1, error);
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
  return apply(self, other, td_op_div_into);
}

/* An operation in place that is made of the one that is not: this calls the method itself on an
 * alias. */

static int
other_operands(PyObject *args, td_tensor **operands, int n) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args) && n < TD_OP_MAX_SAVED; i++)
    if (tdpy_tensor_is(PyTuple_GET_ITEM(args, i)))
      operands[n++] = tdpy_tensor_of(PyTuple_GET_ITEM(args, i));
  return n;
}

static td_status
call_method(td_in_place *now, PyObject *args, PyObject *kwargs, td_tensor **out, td_error *error) {
  char method[64];
  size_t length = strlen(now->name) - 1; /* without its underscore */
  memcpy(method, now->name, length);
  method[length] = '\0';
  PyObject *alias = tdpy_tensor_wrap(td_tensor_ref(now->alias));
  PyObject *function = alias ? PyObject_GetAttrString(alias, method) : NULL;
  PyObject *result = function ? PyObject_Call(function, args, kwargs) : NULL;
  Py_XDECREF(function);
  Py_XDECREF(alias);
  if (result && tdpy_tensor_is(result)) *out = td_tensor_ref(tdpy_tensor_of(result));
  td_status status = *out ? TD_OK : tdpy_fetch(error);
  Py_XDECREF(result);
  return status;
}

static PyObject *
in_place(PyObject *self, PyObject *args, PyObject *kwargs, const char *name) {
  td_tensor *operands[TD_OP_MAX_SAVED + 1] = {tdpy_tensor_of(self)}, *out = NULL;
  int n = other_operands(args, operands, 1);
  td_in_place now;
  td_error error = {0};
  td_status status = td_in_place_begin(&now, name, operands, (uint32_t)n, &error);
  if (!status) {
    status = call_method(&now, args, kwargs, &out, &error);
    status = td_in_place_end(&now, status, out, &error);
  }
  return self_or_error(self, status, &error);
}

#define TD_IN_PLACE(name)                                                                          \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs) {              \
    return in_place(self, args, kwargs, #name "_");                                                \
  }
#include "engine/python/inplace.def"
#undef TD_IN_PLACE

PyObject *
tdpy_inplace_pow(PyObject *self, PyObject *exponent, PyObject *modulus) {
  if (modulus != Py_None || !tdpy_tensor_is(self)) Py_RETURN_NOTIMPLEMENTED;
  PyObject *args = PyTuple_Pack(1, exponent);
  PyObject *result = args ? in_place(self, args, NULL, "pow_") : NULL;
  Py_XDECREF(args);
  return result;
}

#define TD_UNARY(name, ...)                                                                        \
  PyObject *tdpy_unary_##name##_(PyObject *self, PyObject *unused) {                               \
    td_error error = {0};                                                                          \
    return self_or_error(self, td_op_##name##_into(tdpy_tensor_of(self), &error), &error);         \
  }
#include "engine/ops/unary.def"
#undef TD_UNARY

static PyObject *
add_scaled(PyObject *self, PyObject *args, PyObject *kwargs,
           td_status (*op)(td_tensor *, td_tensor *, double, td_error *)) {
  static char *names[] = {"other", "alpha", NULL};
  PyObject *other;
  double alpha = 1;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$d", names, &other, &alpha)) return NULL;
  td_tensor *operand = tdpy_operand(other, tdpy_tensor_of(self));
  if (!operand)
    return PyErr_Format(PyExc_TypeError, "expected a Tensor or a number, not %s",
                        Py_TYPE(other)->tp_name);
  td_status status = op(tdpy_tensor_of(self), operand, alpha, &error);
  td_tensor_unref(operand);
  return self_or_error(self, status, &error);
}

PyObject *
tdpy_method_add_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return add_scaled(self, args, kwargs, td_op_add_into);
}

PyObject *
tdpy_method_sub_(PyObject *self, PyObject *args, PyObject *kwargs) {
  return add_scaled(self, args, kwargs, td_op_sub_into);
}

PyObject *
tdpy_method_copy_(PyObject *self, PyObject *source) {
  return apply(self, source, td_op_copy_into);
}

PyObject *
tdpy_method_fill_(PyObject *self, PyObject *value) {
  tdpy_number number;
  td_error error = {0};
  if (!tdpy_number_read(value, &number)) return apply(self, value, td_op_fill_tensor_into);
  return self_or_error(self, td_op_fill_into(tdpy_tensor_of(self), number.value, &error), &error);
}

PyObject *
tdpy_method_zero_(PyObject *self, PyObject *unused) {
  td_error error = {0};
  return self_or_error(self, td_op_zero_into(tdpy_tensor_of(self), &error), &error);
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

PyObject *
tdpy_method_detach_(PyObject *self, PyObject *unused) {
  td_error error = {0};
  td_cut_history(tdpy_tensor_of(self), TD_cut_kind_detach);
  return self_or_error(self, td_detach_in_place(tdpy_tensor_of(self), &error), &error);
}

PyObject *
tdpy_method_is_view(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(tdpy_tensor_of(self)->base != NULL);
}

PyObject *
tdpy_method_is_inference(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(tdpy_tensor_of(self)->is_inference);
}
