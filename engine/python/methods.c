/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The methods of tensors. Most are also functions of the module, made from these descriptors in
 * tapedeck/__init__.py: torch.exp(x) is Tensor.exp(x). */
#include "engine/python/methods.h"
#include "engine/python/arguments.h"
#include "engine/python/convert.h"
#include "engine/python/errors.h"
#include "engine/python/hook.h"
#include "engine/python/inplace.h"
#include "engine/python/stream.h"
#include "engine/python/types.h"

#include "engine/autograd/variable.h"
#include "engine/ops/compare.h"
#include "engine/ops/linalg.h"
#include "engine/ops/loss.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

/* Methods without arguments that are one operation. */
#define PLAIN(method, operation)                                                                   \
  static PyObject *method(PyObject *self, PyObject *unused) {                                      \
    td_error error = {0};                                                                          \
    td_tensor *out = NULL;                                                                         \
    td_status status = operation(tdpy_tensor_of(self), &out, &error);                              \
    return tdpy_result(status, out, &error);                                                       \
  }

/* Methods of one other operand, tensor or number. */
#define BINARY(method, operation)                                                                  \
  static PyObject *method(PyObject *self, PyObject *other) {                                       \
    td_error error = {0};                                                                          \
    td_tensor *out = NULL, *operand = tdpy_operand(other, tdpy_tensor_of(self));                   \
    if (!operand)                                                                                  \
      return PyErr_Format(PyExc_TypeError, "expected a Tensor or a number, not %s",                \
                          Py_TYPE(other)->tp_name);                                                \
    td_status status = operation(tdpy_tensor_of(self), operand, &out, &error);                     \
    td_tensor_unref(operand);                                                                      \
    return tdpy_result(status, out, &error);                                                       \
  }

#define TD_UNARY(name, ...) PLAIN(unary_##name, td_op_##name)
#include "engine/ops/unary.def"
#undef TD_UNARY
#define TD_COMPARE(name, operator) BINARY(compare_##name, td_op_##name)
#include "engine/ops/compare.def"
#undef TD_COMPARE

PLAIN(isnan_, td_op_isnan)
PLAIN(isinf_, td_op_isinf)
PLAIN(any, td_op_any)
PLAIN(all, td_op_all)
PLAIN(t, td_op_t)
PLAIN(clone_, td_op_clone)
PLAIN(contiguous, td_op_contiguous)
PLAIN(detach, td_op_detach)
PLAIN(max, td_op_max)
BINARY(mul, td_op_mul)
BINARY(div_, td_op_div)
BINARY(matmul, td_op_matmul)
BINARY(mm, td_op_mm)
BINARY(mv, td_op_mv)
BINARY(dot, td_op_dot)
BINARY(bmm, td_op_bmm)

static PyObject *
scaled(PyObject *self, PyObject *args, PyObject *kwargs,
       td_status (*op)(td_tensor *, td_tensor *, double, td_tensor **, td_error *)) {
  static char *names[] = {"other", "alpha", NULL};
  PyObject *other;
  double alpha = 1;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$d", names, &other, &alpha)) return NULL;
  td_tensor *operand = tdpy_operand(other, tdpy_tensor_of(self));
  if (!operand)
    return PyErr_Format(PyExc_TypeError, "expected a Tensor or a number, not %s",
                        Py_TYPE(other)->tp_name);
  td_status status = op(tdpy_tensor_of(self), operand, alpha, &out, &error);
  td_tensor_unref(operand);
  return tdpy_result(status, out, &error);
}

static PyObject *
add(PyObject *self, PyObject *args, PyObject *kwargs) {
  return scaled(self, args, kwargs, td_op_add);
}

static PyObject *
sub(PyObject *self, PyObject *args, PyObject *kwargs) {
  return scaled(self, args, kwargs, td_op_sub);
}

static PyObject *
pow_(PyObject *self, PyObject *exponent) {
  return PyNumber_Power(self, exponent, Py_None);
}

typedef td_status (*reduction)(td_tensor *self, td_tensor **out, td_error *error);
typedef td_status (*reduction_dims)(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
                                    td_tensor **out, td_error *error);

static PyObject *
reduce(PyObject *self, PyObject *args, PyObject *kwargs, reduction all_dims,
       reduction_dims some_dims) {
  static char *names[] = {"dim", "keepdim", NULL};
  tdpy_sizes dims = {0};
  PyObject *given = Py_None;
  int keepdim = 0;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op", names, &given, &keepdim) ||
      !tdpy_sizes_converter(given, &dims))
    return NULL;
  td_status status = given == Py_None ? all_dims(tdpy_tensor_of(self), &out, &error)
                                      : some_dims(tdpy_tensor_of(self), dims.n, dims.values,
                                                  keepdim, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
sum(PyObject *self, PyObject *args, PyObject *kwargs) {
  return reduce(self, args, kwargs, td_op_sum, td_op_sum_dims);
}

static PyObject *
mean(PyObject *self, PyObject *args, PyObject *kwargs) {
  return reduce(self, args, kwargs, td_op_mean, td_op_mean_dims);
}

static PyObject *
argmax(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"dim", "keepdim", NULL};
  PyObject *dim = Py_None;
  int keepdim = 0;
  int64_t number = 0;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op:argmax", names, &dim, &keepdim) ||
      !tdpy_int_converter(dim, &number))
    return NULL;
  td_status status = dim == Py_None
                         ? td_op_argmax(tdpy_tensor_of(self), &out, &error)
                         : td_op_argmax_dim(tdpy_tensor_of(self), number, keepdim, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
along_dim(PyObject *self, PyObject *args, PyObject *kwargs,
          td_status (*op)(td_tensor *, int64_t, td_tensor **, td_error *)) {
  static char *names[] = {"dim", NULL};
  int64_t dim;
  td_error error = {0};
  td_tensor *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, tdpy_int_converter, &dim))
    return NULL;
  td_status status = op(tdpy_tensor_of(self), dim, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
softmax(PyObject *self, PyObject *args, PyObject *kwargs) {
  return along_dim(self, args, kwargs, td_op_softmax);
}

static PyObject *
log_softmax(PyObject *self, PyObject *args, PyObject *kwargs) {
  return along_dim(self, args, kwargs, td_op_log_softmax);
}

static PyObject *
requires_grad_(PyObject *self, PyObject *args) {
  int wanted = 1;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "|p:requires_grad_", &wanted)) return NULL;
  if (wanted && !td_dtype_is_differentiable(tdpy_tensor_of(self)->dtype))
    return PyErr_Format(PyExc_RuntimeError,
                        "only Tensors of floating point dtype can require gradients");
  if (!tdpy_check(td_set_requires_grad(tdpy_tensor_of(self), wanted, &error), &error)) return NULL;
  return Py_NewRef(self);
}

static PyObject *
item(PyObject *self, PyObject *unused) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (td_tensor_n_elements(tensor) == 1)
    return tdpy_tensor_has_item(tensor) ? tdpy_element(tensor, 0) : NULL;
  PyErr_SetString(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  return NULL;
}

static PyObject *
tolist(PyObject *self, PyObject *unused) {
  return tdpy_tensor_to_list(tdpy_tensor_of(self));
}

static PyObject *
numel(PyObject *self, PyObject *unused) {
  return PyLong_FromLongLong(td_tensor_n_elements(tdpy_tensor_of(self)));
}

static PyObject *
dim(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(tdpy_tensor_of(self)->n_dims);
}

static PyObject *
size(PyObject *self, PyObject *args) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  int at;
  if (PyTuple_GET_SIZE(args) == 0) return tdpy_size_wrap(tensor->n_dims, tensor->sizes);
  if (!PyArg_ParseTuple(args, "i:size", &at)) return NULL;
  if (at >= -tensor->n_dims && at < tensor->n_dims)
    return PyLong_FromLongLong(tensor->sizes[at < 0 ? at + tensor->n_dims : at]);
  return PyErr_Format(PyExc_IndexError,
                      "Dimension out of range (expected to be in range of [%d, %d], but got %d)",
                      -tensor->n_dims, tensor->n_dims - 1, at);
}

static PyObject *
is_contiguous(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_tensor_is_contiguous(tdpy_tensor_of(self)));
}

static PyObject *
data_ptr(PyObject *self, PyObject *unused) {
  return PyLong_FromVoidPtr(td_tensor_data(tdpy_tensor_of(self)));
}

/* The Python function does the work, so that there is one. */
static PyObject *
backward(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"gradient", "retain_graph", "create_graph", "inputs", NULL};
  PyObject *gradient = Py_None, *retain_graph = Py_None, *create_graph = Py_False,
           *inputs = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:backward", names, &gradient, &retain_graph,
                                   &create_graph, &inputs))
    return NULL;
  PyObject *module = PyImport_ImportModule("tapedeck.autograd");
  PyObject *result = module ? PyObject_CallMethod(module, "backward", "OOOOOO", self, gradient,
                                                  retain_graph, create_graph, Py_None, inputs)
                            : NULL;
  Py_XDECREF(module);
  return result;
}

#define TD_UNARY(name, ...) {#name, unary_##name, METH_NOARGS, NULL},
#define TD_COMPARE(name, operator) {#name, compare_##name, METH_O, NULL},

PyMethodDef tdpy_tensor_methods[] = {
#include "engine/ops/compare.def"
#include "engine/ops/unary.def"
    {"add", TDPY_KEYWORDS(add), NULL},
    {"sub", TDPY_KEYWORDS(sub), NULL},
    {"mul", mul, METH_O, NULL},
    {"div", div_, METH_O, NULL},
    {"pow", pow_, METH_O, NULL},
    {"matmul", matmul, METH_O, NULL},
    {"mm", mm, METH_O, NULL},
    {"mv", mv, METH_O, NULL},
    {"dot", dot, METH_O, NULL},
    {"bmm", bmm, METH_O, NULL},
    {"sum", TDPY_KEYWORDS(sum), NULL},
    {"mean", TDPY_KEYWORDS(mean), NULL},
    {"argmax", TDPY_KEYWORDS(argmax), NULL},
    {"max", max, METH_NOARGS, NULL},
    {"softmax", TDPY_KEYWORDS(softmax), NULL},
    {"log_softmax", TDPY_KEYWORDS(log_softmax), NULL},
    {"isnan", isnan_, METH_NOARGS, NULL},
    {"isinf", isinf_, METH_NOARGS, NULL},
    {"any", any, METH_NOARGS, NULL},
    {"all", all, METH_NOARGS, NULL},
    {"t", t, METH_NOARGS, NULL},
    {"clone", clone_, METH_NOARGS, NULL},
    {"contiguous", contiguous, METH_NOARGS, NULL},
    {"detach", detach, METH_NOARGS, NULL},
    {"view", tdpy_method_view, METH_VARARGS, NULL},
    {"reshape", tdpy_method_reshape, METH_VARARGS, NULL},
    {"expand", tdpy_method_expand, METH_VARARGS, NULL},
    {"permute", tdpy_method_permute, METH_VARARGS, NULL},
    {"transpose", tdpy_method_transpose, METH_VARARGS, NULL},
    {"flatten", TDPY_KEYWORDS(tdpy_method_flatten), NULL},
    {"squeeze", tdpy_method_squeeze, METH_VARARGS, NULL},
    {"unsqueeze", tdpy_method_unsqueeze, METH_VARARGS, NULL},
    {"split", TDPY_KEYWORDS(tdpy_method_split), NULL},
    {"chunk", TDPY_KEYWORDS(tdpy_method_chunk), NULL},
    {"add_", TDPY_KEYWORDS(tdpy_method_add_), NULL},
    {"sub_", TDPY_KEYWORDS(tdpy_method_sub_), NULL},
    {"mul_", tdpy_inplace_mul, METH_O, NULL},
    {"div_", tdpy_inplace_div, METH_O, NULL},
    {"copy_", tdpy_method_copy_, METH_O, NULL},
    {"fill_", tdpy_method_fill_, METH_O, NULL},
    {"zero_", tdpy_method_zero_, METH_NOARGS, NULL},
    {"uniform_", TDPY_KEYWORDS(tdpy_method_uniform_), NULL},
    {"normal_", TDPY_KEYWORDS(tdpy_method_normal_), NULL},
#undef TD_UNARY
#define TD_UNARY(name, ...) {#name "_", tdpy_unary_##name##_, METH_NOARGS, NULL},
#include "engine/ops/unary.def"
#undef TD_UNARY
#define TD_IN_PLACE(name) {#name "_", TDPY_KEYWORDS(tdpy_method_##name##_), NULL},
#include "engine/python/inplace.def"
#undef TD_IN_PLACE
    {"detach_", tdpy_method_detach_, METH_NOARGS, NULL},
    {"_is_view", tdpy_method_is_view, METH_NOARGS, NULL},
    {"is_inference", tdpy_method_is_inference, METH_NOARGS, NULL},
    {"as_strided", TDPY_KEYWORDS(tdpy_method_as_strided), NULL},
    {"requires_grad_", requires_grad_, METH_VARARGS, NULL},
    {"item", item, METH_NOARGS, NULL},
    {"tolist", tolist, METH_NOARGS, NULL},
    {"numel", numel, METH_NOARGS, NULL},
    {"dim", dim, METH_NOARGS, NULL},
    {"size", size, METH_VARARGS, NULL},
    {"is_contiguous", is_contiguous, METH_NOARGS, NULL},
    {"data_ptr", data_ptr, METH_NOARGS, NULL},
    {"to", TDPY_KEYWORDS(tdpy_method_to), NULL},
    {"cpu", tdpy_method_cpu, METH_NOARGS, NULL},
    {"float", tdpy_method_float, METH_NOARGS, NULL},
    {"double", tdpy_method_double, METH_NOARGS, NULL},
    {"long", tdpy_method_long, METH_NOARGS, NULL},
    {"bool", tdpy_method_bool, METH_NOARGS, NULL},
    {"backward", TDPY_KEYWORDS(backward),
     "Adds gradients to the .grad of the leaves this came from."},
    {"register_hook", tdpy_tensor_register_hook, METH_O, NULL},
    {"register_post_accumulate_grad_hook", tdpy_tensor_register_post_accumulate_grad_hook, METH_O,
     NULL},
    {"retain_grad", tdpy_tensor_retain_grad, METH_NOARGS, NULL},
    {"record_stream", tdpy_method_record_stream, METH_O, NULL},
    {"__format__", tdpy_tensor_format, METH_O, NULL},
    {NULL}};
