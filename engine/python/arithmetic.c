/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operators of tensors. A Python number becomes a 0-dimensional tensor beside the other operand. */
#include "engine/python/arguments.h"
#include "engine/python/convert.h"
#include "engine/python/errors.h"
#include "engine/python/inplace.h"
#include "engine/python/tensor_type.h"

#include "engine/ops/compare.h"
#include "engine/ops/linalg.h"
#include "engine/ops/pointwise.h"

typedef td_status (*binary_op)(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
typedef td_status (*number_op)(td_tensor *self, double number, td_tensor **out, td_error *error);

static PyObject *
binary(td_tensor *self, PyObject *other, binary_op op) {
  td_error error = {0};
  td_tensor *out = NULL, *operand = tdpy_operand(other, self);
  if (!operand) Py_RETURN_NOTIMPLEMENTED;
  td_status status = op(self, operand, &out, &error);
  td_tensor_unref(operand);
  return tdpy_result(status, out, &error);
}

/* number OP tensor, if PyTorch has an operation of its own for it. */
static PyObject *
reflected(PyObject *number_object, PyObject *tensor, number_op op) {
  td_error error = {0};
  td_tensor *out = NULL;
  tdpy_number number;
  if (!tdpy_number_read(number_object, &number)) Py_RETURN_NOTIMPLEMENTED;
  td_status status = op(tdpy_tensor_of(tensor), number.value, &out, &error);
  return tdpy_result(status, out, &error);
}

static td_status
add(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  return td_op_add(self, other, 1, out, error);
}

static td_status
sub(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error) {
  return td_op_sub(self, other, 1, out, error);
}

/* number / tensor: as PyTorch, reciprocal() * number. */
static td_status
reflected_div(td_tensor *self, double number, td_tensor **out, td_error *error) {
  td_tensor *inverse;
  td_status status = td_op_reciprocal(self, &inverse, error);
  if (status) return status;
  td_tensor *factor = td_op_scalar(inverse, number, false);
  status = td_op_mul(inverse, factor, out, error);
  td_tensor_unref(factor);
  td_tensor_unref(inverse);
  return status;
}

static PyObject *
tensor_add(PyObject *a, PyObject *b) {
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, add) : binary(tdpy_tensor_of(b), a, add);
}

static PyObject *
tensor_mul(PyObject *a, PyObject *b) {
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, td_op_mul)
                           : binary(tdpy_tensor_of(b), a, td_op_mul);
}

static PyObject *
tensor_sub(PyObject *a, PyObject *b) {
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, sub) : reflected(a, b, td_op_rsub);
}

static PyObject *
tensor_div(PyObject *a, PyObject *b) {
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, td_op_div)
                           : reflected(a, b, reflected_div);
}

static PyObject *
tensor_matmul(PyObject *a, PyObject *b) {
  if (!tdpy_tensor_is(a) || !tdpy_tensor_is(b)) Py_RETURN_NOTIMPLEMENTED;
  return binary(tdpy_tensor_of(a), b, td_op_matmul);
}

static PyObject *
number_to_the_tensor(PyObject *base, td_tensor *exponent) {
  td_error error = {0};
  td_tensor *out = NULL, *self = tdpy_operand(base, exponent);
  if (!self) Py_RETURN_NOTIMPLEMENTED;
  td_status status = td_op_number_pow(self, exponent, &out, &error);
  td_tensor_unref(self);
  return tdpy_result(status, out, &error);
}

static PyObject *
tensor_pow(PyObject *base, PyObject *exponent, PyObject *modulus) {
  tdpy_number number;
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (!tdpy_tensor_is(base)) return number_to_the_tensor(base, tdpy_tensor_of(exponent));
  if (!tdpy_number_read(exponent, &number))
    return binary(tdpy_tensor_of(base), exponent, td_op_pow);
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_pow_scalar(tdpy_tensor_of(base), number.value, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
either_way(PyObject *a, PyObject *b, binary_op op) {
  if (tdpy_tensor_is(a)) return binary(tdpy_tensor_of(a), b, op);
  td_tensor *number = tdpy_operand(a, tdpy_tensor_of(b));
  if (!number) Py_RETURN_NOTIMPLEMENTED;
  PyObject *result = binary(number, b, op);
  td_tensor_unref(number);
  return result;
}

static PyObject *
tensor_remainder(PyObject *a, PyObject *b) {
  return either_way(a, b, td_op_remainder);
}

static PyObject *
tensor_floor_divide(PyObject *a, PyObject *b) {
  return either_way(a, b, td_op_floor_divide);
}

static PyObject *
tensor_neg(PyObject *self) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_neg(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
tensor_abs(PyObject *self) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_abs(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

/* Of booleans not x, of integers -1 - x. */
static PyObject *
tensor_invert(PyObject *self) {
  td_tensor *tensor = tdpy_tensor_of(self), *zero, *out = NULL;
  td_error error = {0};
  if (td_dtype_is_differentiable(tensor->dtype)) {
    PyErr_SetString(PyExc_TypeError, "~ (operator.invert) is only implemented on integer and "
                                     "Boolean-type tensors");
    return NULL;
  }
  zero = td_op_scalar(tensor, 0, true);
  td_status status = tensor->dtype == TD_BOOL ? td_op_eq(tensor, zero, &out, &error)
                                              : td_op_rsub(tensor, -1, &out, &error);
  td_tensor_unref(zero);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_tensor_compare(PyObject *self, PyObject *other, int op) {
  static const binary_op operations[] = {
      [Py_EQ] = td_op_eq, [Py_NE] = td_op_ne, [Py_LT] = td_op_lt,
      [Py_LE] = td_op_le, [Py_GT] = td_op_gt, [Py_GE] = td_op_ge};
  return binary(tdpy_tensor_of(self), other, operations[op]);
}

static bool
is_single(const td_tensor *tensor) {
  if (td_tensor_n_elements(tensor) == 1) return tdpy_tensor_has_item(tensor);
  PyErr_SetString(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  return false;
}

static int
tensor_bool(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (td_tensor_n_elements(tensor) == 1)
    return tdpy_tensor_has_item(tensor) ? td_tensor_item(tensor) != 0 : -1;
  PyErr_SetString(PyExc_RuntimeError,
                  td_tensor_n_elements(tensor)
                      ? "Boolean value of Tensor with more than one value is ambiguous"
                      : "Boolean value of Tensor with no values is ambiguous");
  return -1;
}

static PyObject *
tensor_float(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  return is_single(tensor) ? PyFloat_FromDouble(td_tensor_item(tensor)) : NULL;
}

static PyObject *
tensor_int(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  return is_single(tensor) ? PyLong_FromDouble(td_tensor_item(tensor)) : NULL;
}

static PyObject *
tensor_index(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (!td_dtype_is_floating(tensor->dtype) && td_tensor_n_elements(tensor) == 1)
    return !tdpy_tensor_has_item(tensor) ? NULL : PyLong_FromDouble(td_tensor_item(tensor));
  PyErr_SetString(PyExc_TypeError,
                  "only integer tensors of a single element can be converted to an index");
  return NULL;
}

PyNumberMethods tdpy_tensor_number = {
    .nb_add = tensor_add,
    .nb_subtract = tensor_sub,
    .nb_multiply = tensor_mul,
    .nb_true_divide = tensor_div,
    .nb_matrix_multiply = tensor_matmul,
    .nb_power = tensor_pow,
    .nb_remainder = tensor_remainder,
    .nb_floor_divide = tensor_floor_divide,
    .nb_negative = tensor_neg,
    .nb_absolute = tensor_abs,
    .nb_invert = tensor_invert,
    .nb_bool = tensor_bool,
    .nb_float = tensor_float,
    .nb_int = tensor_int,
    .nb_index = tensor_index,
    .nb_inplace_add = tdpy_inplace_add,
    .nb_inplace_subtract = tdpy_inplace_sub,
    .nb_inplace_multiply = tdpy_inplace_mul,
    .nb_inplace_true_divide = tdpy_inplace_div,
    .nb_inplace_power = tdpy_inplace_pow,
};
