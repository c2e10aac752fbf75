/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of several tensors: layers, losses, joins. */
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/methods.h"
#include "engine/python/module.h"

#include "engine/base/alloc.h"
#include "engine/ops/linalg.h"
#include "engine/ops/loss.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <string.h>

static int
reduction_converter(PyObject *object, void *reduction) {
  static const char *const words[] = {
      [TD_REDUCTION_NONE] = "none", [TD_REDUCTION_MEAN] = "mean", [TD_REDUCTION_SUM] = "sum"};
  const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
  for (size_t i = 0; text && i < TD_N_ELEMENTS(words); i++)
    if (strcmp(text, words[i]) == 0) {
      *(td_reduction *)reduction = (td_reduction)i;
      return 1;
    }
  PyErr_Format(PyExc_ValueError, "%S is not a valid value for reduction", object);
  return 0;
}

typedef td_status (*loss_op)(td_tensor *self, td_tensor *target, td_reduction reduction,
                             td_tensor **out, td_error *error);

static PyObject *
loss(PyObject *args, PyObject *kwargs, loss_op op) {
  static char *names[] = {"input", "target", "reduction", NULL};
  td_tensor *input, *target, *out = NULL;
  td_reduction reduction = TD_REDUCTION_MEAN;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&", names, tdpy_tensor_converter, &input,
                                   tdpy_tensor_converter, &target, reduction_converter, &reduction))
    return NULL;
  td_status status = op(input, target, reduction, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
nll_loss(PyObject *self, PyObject *args, PyObject *kwargs) {
  return loss(args, kwargs, td_op_nll_loss);
}

static PyObject *
cross_entropy(PyObject *self, PyObject *args, PyObject *kwargs) {
  return loss(args, kwargs, td_op_cross_entropy);
}

static PyObject *
mse_loss(PyObject *self, PyObject *args, PyObject *kwargs) {
  return loss(args, kwargs, td_op_mse_loss);
}

static PyObject *
linear(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"input", "weight", "bias", NULL};
  td_tensor *input, *weight, *bias = NULL, *out = NULL;
  td_error error = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|O&:linear", names, tdpy_tensor_converter,
                                   &input, tdpy_tensor_converter, &weight,
                                   tdpy_optional_tensor_converter, &bias))
    return NULL;
  td_status status = td_op_linear(input, weight, bias, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
where(PyObject *self, PyObject *args) {
  td_tensor *condition, *out = NULL;
  PyObject *yes, *no;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&OO:where", tdpy_tensor_converter, &condition, &yes, &no))
    return NULL;
  const td_tensor *like = tdpy_tensor_is(yes)  ? tdpy_tensor_of(yes)
                          : tdpy_tensor_is(no) ? tdpy_tensor_of(no)
                                               : NULL;
  td_tensor *a = like ? tdpy_operand(yes, like) : NULL, *b = like ? tdpy_operand(no, like) : NULL;
  if (a && b) {
    td_status status = td_op_where(condition, a, b, &out, &error);
    tdpy_check(status, &error);
  } else
    PyErr_SetString(PyExc_TypeError,
                    "where() takes a condition and two operands, one of them a Tensor");
  td_tensor_unref(a);
  td_tensor_unref(b);
  return out ? tdpy_tensor_wrap(out) : NULL;
}

typedef td_status (*join_op)(uint32_t n, td_tensor *const *tensors, int64_t dim, td_tensor **out,
                             td_error *error);

static PyObject *
join(PyObject *args, PyObject *kwargs, join_op op) {
  static char *names[] = {"tensors", "dim", NULL};
  PyObject *sequence;
  long long dim = 0;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|L", names, &sequence, &dim)) return NULL;
  PyObject *fast = PySequence_Fast(sequence, "expected a sequence of tensors");
  if (!fast) return NULL;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
  td_tensor **tensors = TD_NEW_N(td_tensor *, n + 1);
  int fine = 1;
  for (Py_ssize_t i = 0; fine && i < n; i++)
    fine = tdpy_tensor_converter(PySequence_Fast_GET_ITEM(fast, i), &tensors[i]);
  if (fine) fine = tdpy_check(op((uint32_t)n, tensors, dim, &out, &error), &error);
  free(tensors);
  Py_DECREF(fast);
  return fine ? tdpy_tensor_wrap(out) : NULL;
}

static PyObject *
cat(PyObject *self, PyObject *args, PyObject *kwargs) {
  return join(args, kwargs, td_op_cat);
}

static PyObject *
stack(PyObject *self, PyObject *args, PyObject *kwargs) {
  return join(args, kwargs, td_op_stack);
}

static PyObject *
heaviside(PyObject *self, PyObject *args) {
  td_tensor *input, *values, *out = NULL;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&O&:heaviside", tdpy_tensor_converter, &input,
                        tdpy_tensor_converter, &values))
    return NULL;
  td_status status = td_op_heaviside(input, values, &out, &error);
  return tdpy_result(status, out, &error);
}

PyMethodDef tdpy_functional_functions[] = {
    {"linear", TDPY_KEYWORDS(linear), "input weight^T + bias."},
    {"nll_loss", TDPY_KEYWORDS(nll_loss), "The negative log likelihood of the targets."},
    {"cross_entropy", TDPY_KEYWORDS(cross_entropy), "log_softmax, then nll_loss."},
    {"mse_loss", TDPY_KEYWORDS(mse_loss), "The squared difference."},
    {"heaviside", heaviside, METH_VARARGS, "0 below zero, 1 above it, values there."},
    {"where", where, METH_VARARGS,
     "Elements of the second argument where the first is true, else of the third."},
    {"cat", TDPY_KEYWORDS(cat), "Tensors joined along a dimension."},
    {"stack", TDPY_KEYWORDS(stack), "Tensors joined along a new dimension."},
    {NULL}};
