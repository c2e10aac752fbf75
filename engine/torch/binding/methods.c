/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The methods of tensors, except those that are operations (operations.def). */
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/cast_methods.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/inplace.h"
#include "engine/torch/binding/sparse.h"
#include "engine/torch/binding/storage_object.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_type.h"
#include "engine/torch/binding/types.h"

#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/tensor/layout.h"
#include "engine/torch/tensor/zero_tensor.h"

static PyObject *
requires_grad_(PyObject *self, PyObject *args, PyObject *unused) {
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
  if (!td_policy(name_operations)) return tdpy_tensor_is_single(tensor) ? Py_None : NULL;
  return PyErr_Format(PyExc_RuntimeError,
                      "a Tensor with %lld elements cannot be converted to Scalar",
                      (long long)td_tensor_n_elements(tensor));
}

static PyObject *
tolist(PyObject *self, PyObject *unused) {
  if (!td_tensor_is_zero_tensor(tdpy_tensor_of(self)))
    return tdpy_tensor_to_list(tdpy_tensor_of(self));
  PyErr_SetString(PyExc_RuntimeError,
                  "tolist() shouldn't be called on a tensor with unallocated storage");
  return NULL;
}

static PyObject *
is_zero_tensor(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_tensor_is_zero_tensor(tdpy_tensor_of(self)));
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
size(PyObject *self, PyObject *args, PyObject *unused) {
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
is_contiguous(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"memory_format", NULL};
  td_memory_format format = TD_FORMAT_CONTIGUOUS;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O&:is_contiguous", names, tdpy_format_converter,
                                   &format))
    return NULL;
  const td_tensor *tensor = tdpy_tensor_of(self);
  return PyBool_FromLong(format == TD_FORMAT_CONTIGUOUS ? td_tensor_is_contiguous(tensor)
                                                        : td_tensor_has_format(tensor, format));
}

/* stride() or stride(dim) */
static PyObject *
stride(PyObject *self, PyObject *args, PyObject *unused) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  PyObject *dim = Py_None;
  if (!PyArg_ParseTuple(args, "|O:stride", &dim)) return NULL;
  PyObject *all = PyTuple_New(tensor->n_dims);
  for (int d = 0; all && d < tensor->n_dims; d++)
    PyTuple_SET_ITEM(all, d, PyLong_FromLongLong(tensor->strides[d]));
  if (!all || dim == Py_None) return all;
  PyObject *one = PyObject_GetItem(all, dim);
  Py_DECREF(all);
  return one;
}

static PyObject *
data_ptr(PyObject *self, PyObject *unused) {
  return PyLong_FromVoidPtr(td_tensor_data(tdpy_tensor_of(self)));
}

/* Calls the Python function autograd.backward, so that there is only one. */
static PyObject *
backward(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"gradient", "retain_graph", "create_graph", "inputs", NULL};
  PyObject *gradient = Py_None, *retain_graph = Py_None, *create_graph = Py_False,
           *inputs = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:backward", names, &gradient, &retain_graph,
                                   &create_graph, &inputs))
    return NULL;
  PyObject *module = PyImport_ImportModule("torch.autograd");
  PyObject *result = module ? PyObject_CallMethod(module, "backward", "OOOOOO", self, gradient,
                                                  retain_graph, create_graph, Py_None, inputs)
                            : NULL;
  Py_XDECREF(module);
  return result;
}

TDPY_BY_NAME(requires_grad_, "requires_grad")
TDPY_BY_NAME(size, "dim")
TDPY_BY_NAME(stride, "dim")

PyMethodDef tdpy_tensor_methods[] = {
    {"add_", TDPY_KEYWORDS(tdpy_method_add_), NULL},
    {"sub_", TDPY_KEYWORDS(tdpy_method_sub_), NULL},
    {"mul_", TDPY_KEYWORDS(tdpy_method_mul_), NULL},
    {"div_", TDPY_KEYWORDS(tdpy_method_div_), NULL},
    {"copy_", TDPY_KEYWORDS(tdpy_method_copy_), NULL},
    {"fill_", TDPY_KEYWORDS(tdpy_method_fill_), NULL},
    {"zero_", tdpy_method_zero_, METH_NOARGS, NULL},
#define TD_UNARY(name, ...) {#name "_", tdpy_unary_##name##_, METH_NOARGS, NULL},
#include "engine/torch/ops/pointwise/unary.def"
#undef TD_UNARY
#define TD_IN_PLACE(name) {#name "_", TDPY_KEYWORDS(tdpy_method_##name##_), NULL},
#define TD_IN_PLACE_VIEW(name, ...) {#name "_", TDPY_KEYWORDS(tdpy_method_##name##_), NULL},
#include "engine/torch/binding/inplace.def"
#undef TD_IN_PLACE
#undef TD_IN_PLACE_VIEW
    {"detach_", tdpy_method_detach_, METH_NOARGS, NULL},
    {"_is_view", tdpy_method_is_view, METH_NOARGS, NULL},
    {"is_inference", tdpy_method_is_inference, METH_NOARGS, NULL},
    {"_indices", tdpy_sparse_raw_indices, METH_NOARGS, NULL},
    {"_values", tdpy_sparse_raw_values, METH_NOARGS, NULL},
    {"indices", tdpy_sparse_indices, METH_NOARGS, NULL},
    {"values", tdpy_sparse_values, METH_NOARGS, NULL},
    {"_nnz", tdpy_sparse_nnz, METH_NOARGS, NULL},
    {"sparse_dim", tdpy_sparse_dim, METH_NOARGS, NULL},
    {"dense_dim", tdpy_sparse_dense_dim, METH_NOARGS, NULL},
    {"is_coalesced", tdpy_sparse_is_coalesced, METH_NOARGS, NULL},
    {"coalesce", tdpy_sparse_coalesce, METH_NOARGS, NULL},
    {"to_dense", tdpy_sparse_to_dense, METH_NOARGS, NULL},
    {"requires_grad_", TDPY_KEYWORDS(requires_grad__by_name), NULL},
    {"item", item, METH_NOARGS, NULL},
    {"tolist", tolist, METH_NOARGS, NULL},
    {"_is_zerotensor", is_zero_tensor, METH_NOARGS, NULL},
    {"numel", numel, METH_NOARGS, NULL},
    {"dim", dim, METH_NOARGS, NULL},
    {"size", TDPY_KEYWORDS(size_by_name), NULL},
    {"is_contiguous", TDPY_KEYWORDS(is_contiguous), NULL},
    {"stride", TDPY_KEYWORDS(stride_by_name), "how many elements apart its dimensions are"},
    {"data_ptr", data_ptr, METH_NOARGS, NULL},
    {"untyped_storage", tdpy_tensor_untyped_storage, METH_NOARGS, "its memory, as bytes"},
    {"storage_offset", tdpy_tensor_storage_offset, METH_NOARGS, "its first element's place there"},
    {"element_size", tdpy_tensor_element_size, METH_NOARGS, "the bytes of an element"},
    {"to", TDPY_KEYWORDS(tdpy_method_to), NULL},
    {"cpu", tdpy_method_cpu, METH_NOARGS, NULL},
#define X(name, dtype) {#name, tdpy_method_##name, METH_NOARGS, NULL},
    TDPY_CASTS(X)
#undef X
        {"backward", TDPY_KEYWORDS(backward),
         "Adds gradients to the .grad of the leaves this came from."},
    {"register_hook", tdpy_tensor_register_hook, METH_O, NULL},
    {"register_post_accumulate_grad_hook", tdpy_tensor_register_post_accumulate_grad_hook, METH_O,
     NULL},
    {"retain_grad", tdpy_tensor_retain_grad, METH_NOARGS, NULL},
    {"record_stream", tdpy_method_record_stream, METH_O, NULL},
    {"__format__", tdpy_tensor_format, METH_O, NULL},
    {NULL}};
