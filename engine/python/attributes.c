/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The attributes of tensors. */
#include "engine/graph/grad_fn.h"
#include "engine/graph/tensor_hooks.h"
#include "engine/graph/variable.h"
#include "engine/graph/version.h"
#include "engine/graph/views.h"
#include "engine/ops/shape.h"
#include "engine/python/errors.h"
#include "engine/python/node_object.h"
#include "engine/python/tensor_type.h"
#include "engine/python/types.h"

static PyObject *
get_shape(PyObject *self, void *closure) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  return tdpy_size_wrap(tensor->n_dims, tensor->sizes);
}

static PyObject *
get_dtype(PyObject *self, void *closure) {
  return tdpy_dtype_wrap(tdpy_tensor_of(self)->dtype);
}

static PyObject *
get_device(PyObject *self, void *closure) {
  return tdpy_device_wrap(tdpy_tensor_of(self)->device);
}

static PyObject *
get_ndim(PyObject *self, void *closure) {
  return PyLong_FromLong(tdpy_tensor_of(self)->n_dims);
}

static PyObject *
get_is_leaf(PyObject *self, void *closure) {
  if (!tdpy_tensor_has_history(self)) return NULL;
  return PyBool_FromLong(td_is_leaf(tdpy_tensor_of(self)));
}

static PyObject *
get_requires_grad(PyObject *self, void *closure) {
  return PyBool_FromLong(td_requires_grad(tdpy_tensor_of(self)));
}

static int
set_requires_grad(PyObject *self, PyObject *value, void *closure) {
  td_error error = {0};
  int wanted = value ? PyObject_IsTrue(value) : 0;
  if (wanted < 0) return -1;
  if (wanted && !td_dtype_is_differentiable(tdpy_tensor_of(self)->dtype)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "only Tensors of floating point and complex dtype can require gradients");
    return -1;
  }
  return tdpy_check(td_set_requires_grad(tdpy_tensor_of(self), wanted, &error), &error) ? 0 : -1;
}

static PyObject *
get_grad_fn(PyObject *self, void *closure) {
  return tdpy_tensor_has_history(self) ? tdpy_node_wrap(td_grad_fn(tdpy_tensor_of(self))) : NULL;
}

static PyObject *
get_output_nr(PyObject *self, void *closure) {
  return PyLong_FromUnsignedLong(td_output_nr(tdpy_tensor_of(self)));
}

static PyObject *
get_retains_grad(PyObject *self, void *closure) {
  return PyBool_FromLong(td_retains_grad(tdpy_tensor_of(self)));
}

static PyObject *
get_transposed(PyObject *self, void *closure) {
  td_error error = {0};
  td_tensor *out = NULL, *tensor = tdpy_tensor_of(self);
  int64_t dims[TD_MAX_DIMS];
  for (int i = 0; i < tensor->n_dims; i++)
    dims[i] = tensor->n_dims - 1 - i;
  td_status status = td_op_permute(tensor, tensor->n_dims, dims, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
get_data(PyObject *self, void *closure) {
  return tdpy_tensor_wrap(td_tensor_alias(tdpy_tensor_of(self)));
}

static int
set_data(PyObject *self, PyObject *value, void *closure) {
  td_error error = {0};
  if (!value || !tdpy_tensor_is(value)) {
    PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %s",
                 value ? Py_TYPE(value)->tp_name : "nothing");
    return -1;
  }
  return tdpy_check(td_variable_set_data(tdpy_tensor_of(self), tdpy_tensor_of(value), &error),
                    &error)
             ? 0
             : -1;
}

static PyObject *
get_version(PyObject *self, void *closure) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (!tensor->is_inference) return PyLong_FromUnsignedLong(td_tensor_version(tensor));
  PyErr_SetString(PyExc_RuntimeError, "Inference tensors do not track version counter.");
  return NULL;
}

static PyObject *
get_base(PyObject *self, void *closure) {
  return tdpy_tensor_wrap(td_tensor_ref(tdpy_tensor_of(self)->base));
}

static PyObject *
get_is_sparse(PyObject *self, void *closure) {
  return PyBool_FromLong(tdpy_tensor_of(self)->sparse != NULL);
}

/* Programs only compare and print a layout, so its name is enough. */
static PyObject *
get_layout(PyObject *self, void *closure) {
  return tdpy_layout_wrap(tdpy_tensor_of(self)->sparse != NULL);
}

PyGetSetDef tdpy_tensor_getset[] = {
    {"is_sparse", get_is_sparse, NULL, "whether it is of indices and values", NULL},
    {"layout", get_layout, NULL, "torch.strided or torch.sparse_coo", NULL},
    {"shape", get_shape, NULL, "its size, a torch.Size", NULL},
    {"dtype", get_dtype, NULL, "the kind of its elements", NULL},
    {"device", get_device, NULL, "where it lives", NULL},
    {"ndim", get_ndim, NULL, "the number of its dimensions", NULL},
    {"is_leaf", get_is_leaf, NULL, "whether no node made it", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "whether gradients are wanted", NULL},
    {"grad_fn", get_grad_fn, NULL, "the node that made it, or None", NULL},
    {"output_nr", get_output_nr, NULL, "which output of its node it is", NULL},
    {"grad", tdpy_tensor_get_grad, tdpy_tensor_set_grad, "the gradient that backward left, or None",
     NULL},
    {"retains_grad", get_retains_grad, NULL, "whether its grad is kept though it is no leaf", NULL},
    {"T", get_transposed, NULL, "with its dimensions reversed", NULL},
    {"data", get_data, set_data, "the same elements without history", NULL},
    {"_version", get_version, NULL, "how often its elements were written in place", NULL},
    {"_base", get_base, NULL, "the tensor that it is a view of, or None", NULL},
    {NULL}};
