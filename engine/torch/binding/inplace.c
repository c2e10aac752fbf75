/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/inplace.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/intercept.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/inplace.h"

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
  TDPY_INTERCEPT_OPERATOR("iadd", self, other);
  return apply(self, other, add);
}

PyObject *
tdpy_inplace_sub(PyObject *self, PyObject *other) {
  TDPY_INTERCEPT_OPERATOR("isub", self, other);
  return apply(self, other, sub);
}

PyObject *
tdpy_inplace_mul(PyObject *self, PyObject *other) {
  TDPY_INTERCEPT_OPERATOR("imul", self, other);
  return apply(self, other, td_op_mul_into);
}

PyObject *
tdpy_inplace_div(PyObject *self, PyObject *other) {
  TDPY_INTERCEPT_OPERATOR("itruediv", self, other);
  return apply(self, other, td_op_div_into);
}

/* An operation in place that is made of the one that is not: this calls the method itself on an
 * alias. */

typedef struct operand_list {
  td_tensor *at[TD_OP_MAX_SAVED + 1]; /* (borrowed) */
  uint32_t n;
} operand_list;

static void
add_operand(operand_list *operands, PyObject *argument) {
  if (tdpy_tensor_is(argument) && operands->n < TD_OP_MAX_SAVED + 1)
    operands->at[operands->n++] = tdpy_tensor_of(argument);
}

static operand_list
operands_of(PyObject *self, PyObject *args, PyObject *kwargs) {
  operand_list operands = {.at = {tdpy_tensor_of(self)}, .n = 1};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
    add_operand(&operands, PyTuple_GET_ITEM(args, i));
  Py_ssize_t at = 0;
  PyObject *value;
  while (kwargs && PyDict_Next(kwargs, &at, NULL, &value))
    add_operand(&operands, value);
  return operands;
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

/* in_place(tensor, "name_", function): function(alias of the tensor) gives what is written into it.
 */
PyObject *
tdpy_in_place(PyObject *module, PyObject *args) {
  PyObject *self, *function, *result = NULL;
  const char *name;
  td_in_place now;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTuple(args, "OsO:in_place", &self, &name, &function)) return NULL;
  if (!tdpy_tensor_is(self)) return PyErr_Format(PyExc_TypeError, "expected a Tensor");
  td_tensor *own = tdpy_tensor_of(self);
  td_status status = td_in_place_begin(&now, name, &own, 1, &error);
  if (status) return self_or_error(self, status, &error);
  PyObject *alias = tdpy_tensor_wrap(td_tensor_ref(now.alias));
  if (alias) result = PyObject_CallOneArg(function, alias);
  Py_XDECREF(alias);
  if (result && tdpy_tensor_is(result)) out = td_tensor_ref(tdpy_tensor_of(result));
  status = td_in_place_end(&now, out ? TD_OK : tdpy_fetch(&error), out, &error);
  Py_XDECREF(result);
  return self_or_error(self, status, &error);
}

typedef td_status (*ending)(td_in_place *now, td_status status, td_tensor *out, td_error *error);

static PyObject *
in_place_by(PyObject *self, PyObject *args, PyObject *kwargs, const char *name, td_overlap allowed,
            ending end) {
  TDPY_INTERCEPT(name, self, args, kwargs);
  operand_list operands = operands_of(self, args, kwargs);
  td_tensor *out = NULL;
  td_in_place now;
  td_error error = {0};
  td_status status = td_in_place_begin(&now, name, operands.at, operands.n, &error);
  if (!status) {
    now.allowed = allowed;
    status = call_method(&now, args, kwargs, &out, &error);
    status = end(&now, status, out, &error);
  }
  return self_or_error(self, status, &error);
}

static PyObject *
in_place(PyObject *self, PyObject *args, PyObject *kwargs, const char *name) {
  return in_place_by(self, args, kwargs, name, TD_OVERLAP_FULL, td_in_place_end);
}

#define TD_IN_PLACE(name)                                                                          \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs) {              \
    return in_place(self, args, kwargs, #name "_");                                                \
  }
#define TD_IN_PLACE_SHARING(name, allowed)                                                         \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs) {              \
    return in_place_by(self, args, kwargs, #name "_", allowed, td_in_place_end);                   \
  }
#define TD_IN_PLACE_VIEW(name, of_one, of_more)                                                    \
  static td_status name##_end(td_in_place *now, td_status status, td_tensor *view,                 \
                              td_error *error) {                                                   \
    static td_op_class classes[2];                                                                 \
    const char *made = view && td_grad_fn(view) ? td_node_name(td_grad_fn(view)) : "";             \
    bool more = made[0] && made[strlen(made) - 1] != '0';                                          \
    return td_in_place_view_end(now, status, view, &classes[more], more ? of_more : of_one,        \
                                error);                                                            \
  }                                                                                                \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs) {              \
    return in_place_by(self, args, kwargs, #name "_", TD_OVERLAP_PARTIAL, name##_end);             \
  }
#include "engine/torch/binding/inplace.def"
#undef TD_IN_PLACE
#undef TD_IN_PLACE_VIEW

PyObject *
tdpy_inplace_pow(PyObject *self, PyObject *exponent, PyObject *modulus) {
  if (modulus != Py_None || !tdpy_tensor_is(self)) Py_RETURN_NOTIMPLEMENTED;
  PyObject *args = PyTuple_Pack(1, exponent);
  PyObject *result = args ? in_place(self, args, NULL, "pow_") : NULL;
  Py_XDECREF(args);
  return result;
}

/* Operators that are methods in place: a &= b, a //= b and their kin. */
static PyObject *
by_method(PyObject *self, PyObject *other, const char *name) {
  PyObject *args = PyTuple_Pack(1, other);
  PyObject *result = args ? in_place(self, args, NULL, name) : NULL;
  Py_XDECREF(args);
  return result;
}

#define OPERATOR(name, of)                                                                         \
  PyObject *tdpy_inplace_##name(PyObject *self, PyObject *other) {                                 \
    return by_method(self, other, #of "_");                                                        \
  }
OPERATOR(and, bitwise_and)
OPERATOR(or, bitwise_or)
OPERATOR(xor, bitwise_xor)
OPERATOR(lshift, bitwise_left_shift)
OPERATOR(rshift, bitwise_right_shift)
OPERATOR(remainder, remainder)
OPERATOR(floor_divide, floor_divide)

#define TD_UNARY(name, ...)                                                                        \
  PyObject *tdpy_unary_##name##_(PyObject *self, PyObject *unused) {                               \
    TDPY_INTERCEPT_OPERATOR(#name "_", self, NULL);                                                \
    td_error error = {0};                                                                          \
    return self_or_error(self, td_op_##name##_into(tdpy_tensor_of(self), &error), &error);         \
  }
#include "engine/torch/ops/pointwise/unary.def"
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

/* The operator, if there is one operand and nothing else. */
#define OPERATOR_OR_METHOD(name)                                                                   \
  PyObject *tdpy_method_##name##_(PyObject *self, PyObject *args, PyObject *kwargs) {              \
    return !kwargs && PyTuple_GET_SIZE(args) == 1                                                  \
               ? tdpy_inplace_##name(self, PyTuple_GET_ITEM(args, 0))                              \
               : in_place(self, args, kwargs, #name "_");                                          \
  }
OPERATOR_OR_METHOD(mul)
OPERATOR_OR_METHOD(div)

PyObject *
tdpy_method_copy_(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"other", "non_blocking", NULL};
  PyObject *source;
  int unused;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:copy_", names, &source, &unused)) return NULL;
  return apply(self, source, td_op_copy_into);
}

PyObject *
tdpy_method_fill_(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"value", NULL};
  PyObject *value;
  tdpy_number number;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:fill_", names, &value)) return NULL;
  if (!tdpy_number_read(value, &number)) return apply(self, value, td_op_fill_tensor_into);
  td_complex128 filling = CMPLX(number.value, number.imaginary);
  return self_or_error(self, td_op_fill_into(tdpy_tensor_of(self), filling, &error), &error);
}

PyObject *
tdpy_method_zero_(PyObject *self, PyObject *unused) {
  td_error error = {0};
  return self_or_error(self, td_op_zero_into(tdpy_tensor_of(self), &error), &error);
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
