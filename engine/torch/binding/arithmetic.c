/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operators of tensors. A Python number becomes a 0-dimensional tensor beside the other operand. */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/inplace.h"
#include "engine/torch/binding/intercept.h"
#include "engine/torch/binding/tensor_type.h"

#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/base/scalar.h"
#include "engine/torch/ops/linalg/linalg.h"
#include "engine/torch/ops/pointwise/compare.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/logic.h"
#include "engine/torch/ops/pointwise/pointwise.h"

#include <complex.h>

typedef td_status (*binary_op)(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
typedef td_status (*number_op)(td_tensor *self, double number, td_tensor **out, td_error *error);

static PyObject *
binary(td_tensor *self, PyObject *other, binary_op op) {
  td_error error = {0};
  td_tensor *out = NULL, *operand = tdpy_operand(other, self);
  if (!operand) Py_RETURN_NOTIMPLEMENTED;
  td_status status = op(self, operand, &out, &error);
  if (status) tdpy_note_failure(2, (td_tensor *[]){self, operand});
  td_tensor_unref(operand);
  return tdpy_result(status, out, &error);
}

/* number OP tensor, if PyTorch has an operation of its own for it. */
static PyObject *
reflected(PyObject *number_object, PyObject *tensor, number_op op, binary_op of_complex) {
  td_error error = {0};
  td_tensor *out = NULL;
  tdpy_number number;
  if (!tdpy_number_read(number_object, &number)) Py_RETURN_NOTIMPLEMENTED;
  td_tensor *self = tdpy_tensor_of(tensor);
  td_tensor *operand = number.is_complex ? tdpy_operand(number_object, self) : NULL;
  td_status status =
      operand ? of_complex(operand, self, &out, &error) : op(self, number.value, &out, &error);
  td_tensor_unref(operand);
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
quotient(td_tensor *number, td_tensor *self, td_tensor **out, td_error *error) {
  td_tensor *inverse;
  td_status status = td_op_reciprocal(self, &inverse, error);
  if (status) return status;
  status = td_op_mul(inverse, number, out, error);
  td_tensor_unref(inverse);
  return status;
}

static td_status
reflected_div(td_tensor *self, double number, td_tensor **out, td_error *error) {
  td_tensor *factor = td_op_scalar(self, number, false);
  td_status status = quotient(factor, self, out, error);
  td_tensor_unref(factor);
  return status;
}

static PyObject *
tensor_add(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("add", a, b);
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, add) : binary(tdpy_tensor_of(b), a, add);
}

static PyObject *
tensor_mul(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("mul", a, b);
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, td_op_mul)
                           : binary(tdpy_tensor_of(b), a, td_op_mul);
}

static PyObject *
tensor_sub(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("sub", a, b);
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, sub) : reflected(a, b, td_op_rsub, sub);
}

static PyObject *
tensor_div(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("truediv", a, b);
  return tdpy_tensor_is(a) ? binary(tdpy_tensor_of(a), b, td_op_div)
                           : reflected(a, b, reflected_div, quotient);
}

static PyObject *
tensor_matmul(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("matmul", a, b);
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
  TDPY_INTERCEPT_OPERATOR("pow", base, exponent);
  if (!tdpy_tensor_is(base)) return number_to_the_tensor(base, tdpy_tensor_of(exponent));
  if (!tdpy_number_read(exponent, &number))
    return binary(tdpy_tensor_of(base), exponent, td_op_pow);
  td_error error = {0};
  td_tensor *out = NULL;
  td_complex128 power = CMPLX(number.value, number.imaginary);
  td_tensor *self = tdpy_tensor_of(base);
  td_status status = number.is_complex ? td_op_pow_complex(self, power, &out, &error)
                                       : td_op_pow_scalar(self, number.value, &out, &error);
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
  TDPY_INTERCEPT_OPERATOR("mod", a, b);
  return either_way(a, b, td_op_remainder);
}

static PyObject *
tensor_floor_divide(PyObject *a, PyObject *b) {
  TDPY_INTERCEPT_OPERATOR("floordiv", a, b);
  return either_way(a, b, td_op_floor_divide);
}

static PyObject *
tensor_neg(PyObject *self) {
  TDPY_INTERCEPT_OPERATOR("neg", self, NULL);
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_neg(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
tensor_pos(PyObject *self) {
  return tdpy_tensor_of(self)->dtype == TD_BOOL
             ? PyErr_Format(PyExc_RuntimeError,
                            "The `+` operator, on a bool tensor is not supported.")
             : Py_NewRef(self);
}

static PyObject *
tensor_abs(PyObject *self) {
  TDPY_INTERCEPT_OPERATOR("abs", self, NULL);
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_abs(tdpy_tensor_of(self), &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
tensor_invert(PyObject *self) {
  TDPY_INTERCEPT_OPERATOR("invert", self, NULL);
  td_tensor *tensor = tdpy_tensor_of(self), *out = NULL;
  td_error error = {0};
  if (td_dtype_is_differentiable(tensor->dtype)) {
    PyErr_SetString(PyExc_TypeError, "~ (operator.invert) is only implemented on integer and "
                                     "Boolean-type tensors");
    return NULL;
  }
  td_status status = td_op_bitwise_not(tensor, &out, &error);
  return tdpy_result(status, out, &error);
}

#define OF_BITS(name, op)                                                                          \
  static PyObject *tensor_##name(PyObject *a, PyObject *b) {                                       \
    return either_way(a, b, op);                                                                   \
  }
OF_BITS(and, td_op_bitwise_and)
OF_BITS(or, td_op_bitwise_or)
OF_BITS(xor, td_op_bitwise_xor)
OF_BITS(lshift, td_op_bitwise_left_shift)
OF_BITS(rshift, td_op_bitwise_right_shift)

PyObject *
tdpy_tensor_compare(PyObject *self, PyObject *other, int op) {
  static const binary_op operations[] = {
      [Py_EQ] = td_op_eq, [Py_NE] = td_op_ne, [Py_LT] = td_op_lt,
      [Py_LE] = td_op_le, [Py_GT] = td_op_gt, [Py_GE] = td_op_ge};
  return binary(tdpy_tensor_of(self), other, operations[op]);
}

static int
tensor_bool(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (td_tensor_n_elements(tensor) == 1)
    return tdpy_tensor_has_item(tensor) ? td_tensor_get_complex(tensor, 0) != 0 : -1;
  PyErr_SetString(PyExc_RuntimeError,
                  td_tensor_n_elements(tensor)
                      ? "Boolean value of Tensor with more than one value is ambiguous"
                      : "Boolean value of Tensor with no values is ambiguous");
  return -1;
}

/* Once in a process, as in PyTorch 2. */
static bool
warn_of_history(const td_tensor *tensor) {
  static bool told;
  if (told || !td_policy(name_operations) || !td_grad_mode() || !td_requires_grad(tensor))
    return true;
  told = true;
  return PyErr_WarnEx(PyExc_UserWarning,
                      "Converting a tensor with requires_grad=True to a scalar may lead to "
                      "unexpected behavior.\nConsider using tensor.detach() first.",
                      1) == 0;
}

/* All bits of an integer stay. */
static PyObject *
element_as(PyObject *self, PyObject *(*convert)(PyObject *), const char *kind) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (!tdpy_tensor_is_single(tensor) || !warn_of_history(tensor)) return NULL;
  if (td_dtype_is_complex(tensor->dtype)) {
    if (cimag(td_tensor_get_complex(tensor, 0)) != 0)
      return PyErr_Format(PyExc_RuntimeError,
                          "value cannot be converted to type %s without overflow", kind);
    double real = td_tensor_item(tensor);
    return convert == PyNumber_Long ? PyLong_FromDouble(real) : PyFloat_FromDouble(real);
  }
  PyObject *element = tdpy_element(tensor, 0);
  PyObject *number = element ? convert(element) : NULL;
  Py_XDECREF(element);
  return number;
}

static PyObject *
tensor_float(PyObject *self) {
  return element_as(self, PyNumber_Float, "double");
}

static PyObject *
tensor_int(PyObject *self) {
  return element_as(self, PyNumber_Long, "int64_t");
}

static PyObject *
tensor_index(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (!td_dtype_is_differentiable(tensor->dtype) && td_tensor_n_elements(tensor) == 1)
    return element_as(self, PyNumber_Long, "int64_t");
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
    .nb_positive = tensor_pos,
    .nb_absolute = tensor_abs,
    .nb_invert = tensor_invert,
    .nb_and = tensor_and,
    .nb_or = tensor_or,
    .nb_xor = tensor_xor,
    .nb_lshift = tensor_lshift,
    .nb_rshift = tensor_rshift,
    .nb_inplace_and = tdpy_inplace_and,
    .nb_inplace_or = tdpy_inplace_or,
    .nb_inplace_xor = tdpy_inplace_xor,
    .nb_inplace_lshift = tdpy_inplace_lshift,
    .nb_inplace_rshift = tdpy_inplace_rshift,
    .nb_inplace_remainder = tdpy_inplace_remainder,
    .nb_inplace_floor_divide = tdpy_inplace_floor_divide,
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
