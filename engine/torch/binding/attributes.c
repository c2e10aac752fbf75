/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The attributes of tensors. */
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/tensor_type.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/tensor_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"
#include "engine/torch/ops/shape/shape.h"

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
refuse(PyObject *kind, const char *text) {
  PyErr_SetString(kind, text);
  return -1;
}

static int
set_requires_grad(PyObject *self, PyObject *value, void *closure) {
  td_error error = {0};
  if (!value || !PyBool_Check(value))
    return refuse(PyExc_RuntimeError, "requires_grad must be a bool");
  int wanted = value == Py_True;
  if (wanted && !td_dtype_is_differentiable(tdpy_tensor_of(self)->dtype)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "only Tensors of floating point and complex dtype can require gradients");
    return -1;
  }
  return tdpy_check(td_set_requires_grad(tdpy_tensor_of(self), wanted, &error), &error) ? 0 : -1;
}

static PyObject *
get_grad_fn(PyObject *self, void *closure) {
  td_error error = {0};
  if (!tdpy_tensor_has_history(self)) return NULL;
  td_node *node = td_grad_fn(tdpy_tensor_of(self));
  return tdpy_check(TD_OK, &error) ? tdpy_node_wrap(node) : NULL;
}

/* Only None can be set, which takes the history away. */
static int
set_grad_fn(PyObject *self, PyObject *value, void *closure) {
  td_error error = {0};
  if (!value)
    return refuse(PyExc_RuntimeError, "Deletion of _grad_fn not allowed. Detach tensor instead!");
  if (value != Py_None) return refuse(PyExc_TypeError, "_grad_fn can be only set to None");
  return tdpy_check(td_detach_in_place(tdpy_tensor_of(self), &error), &error) ? 0 : -1;
}

/* Hooks that a program has put on a tensor without gradients: nobody ever calls them. */
static PyObject *
idle_hooks(PyObject *self) {
  PyObject *dict = ((tdpy_tensor *)self)->dict;
  return dict ? PyDict_GetItemString(dict, "_backward_hooks") : NULL;
}

static PyObject *
get_backward_hooks(PyObject *self, void *closure) {
  PyObject *idle = idle_hooks(self);
  return idle ? Py_NewRef(idle) : tdpy_tensor_hooks(tdpy_tensor_of(self));
}

static int
set_backward_hooks(PyObject *self, PyObject *value, void *closure) {
  if (!value) return refuse(PyExc_RuntimeError, "Deletion of _backwards_hooks not allowed!");
  if (td_requires_grad(tdpy_tensor_of(self)))
    return refuse(PyExc_RuntimeError,
                  "_backward_hooks cannot be set here: register_hook adds a hook, and its handle "
                  "removes it");
  PyObject *dict = PyObject_GenericGetDict(self, NULL);
  int failed = dict ? PyDict_SetItemString(dict, "_backward_hooks", value) : -1;
  Py_XDECREF(dict);
  return failed;
}

static PyObject *
get_volatile(PyObject *self, void *closure) {
  if (PyErr_WarnEx(PyExc_UserWarning, "volatile was removed (Variable.volatile is always False)",
                   1))
    return NULL;
  Py_RETURN_FALSE;
}

static int
set_volatile(PyObject *self, PyObject *value, void *closure) {
  return PyErr_WarnEx(PyExc_UserWarning,
                      "volatile was removed and now has no effect. Use `with torch.no_grad():` "
                      "instead.",
                      1);
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

/* A matrix with rows and columns swapped; of more dimensions, the last two. */
static PyObject *
get_matrix_transposed(PyObject *self, void *closure) {
  td_error error = {0};
  td_tensor *out = NULL, *tensor = tdpy_tensor_of(self);
  if (tensor->n_dims < 2)
    return PyErr_Format(PyExc_RuntimeError,
                        "tensor.%s is only supported on matrices or batches of matrices. Got %d-D "
                        "tensor.",
                        (const char *)closure, tensor->n_dims);
  td_status status = td_op_transpose(tensor, -2, -1, &out, &error);
  return tdpy_result(status, out, &error);
}

static PyObject *
get_adjoint(PyObject *self, void *closure) {
  td_error error = {0};
  td_tensor *out = NULL, *tensor = tdpy_tensor_of(self);
  bool is_strict = strcmp(closure, "H") == 0;
  if (is_strict && tensor->n_dims != 2)
    return PyErr_Format(PyExc_RuntimeError,
                        "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.",
                        tensor->n_dims);
  PyObject *turned = get_matrix_transposed(self, closure);
  if (!turned) return NULL;
  td_status status = td_op_conj(tdpy_tensor_of(turned), &out, &error);
  Py_DECREF(turned);
  return tdpy_result(status, out, &error);
}

static PyObject *
get_itemsize(PyObject *self, void *closure) {
  return PyLong_FromSize_t(td_dtype_size(tdpy_tensor_of(self)->dtype));
}

static PyObject *
get_nbytes(PyObject *self, void *closure) {
  return PyLong_FromSize_t(td_tensor_n_bytes(tdpy_tensor_of(self)));
}

static PyObject *
get_false(PyObject *self, void *closure) {
  Py_RETURN_FALSE;
}

static PyObject *
get_is_cpu(PyObject *self, void *closure) {
  return PyBool_FromLong(tdpy_tensor_of(self)->device == TD_CPU);
}

static PyObject *
get_is_meta(PyObject *self, void *closure) {
  return PyBool_FromLong(tdpy_tensor_of(self)->device == TD_META);
}

static PyObject *
get_data(PyObject *self, void *closure) {
  td_cut_history(tdpy_tensor_of(self), TD_cut_kind_data);
  return tdpy_tensor_wrap(td_tensor_alias(tdpy_tensor_of(self)));
}

static int
set_data(PyObject *self, PyObject *value, void *closure) {
  td_error error = {0};
  if (!value)
    return refuse(PyExc_RuntimeError,
                  "Deleting tensor data is not allowed. Delete tensor instead!");
  if (!tdpy_tensor_is(value)) {
    PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %s",
                 Py_TYPE(value)->tp_name);
    return -1;
  }
  if (!tdpy_tensor_of(self)->sparse != !tdpy_tensor_of(value)->sparse)
    return refuse(PyExc_RuntimeError,
                  "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                  "incompatible tensor type.");
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
    {"_grad_fn", get_grad_fn, set_grad_fn, "the node that made it, or None", NULL},
    {"_backward_hooks", get_backward_hooks, set_backward_hooks, "its hooks by number, or None",
     NULL},
    {"volatile", get_volatile, set_volatile, "was removed", NULL},
    {"output_nr", get_output_nr, NULL, "which output of its node it is", NULL},
    {"grad", tdpy_tensor_get_grad, tdpy_tensor_set_grad, "the gradient that backward left, or None",
     NULL},
    {"retains_grad", get_retains_grad, NULL, "whether its grad is kept though it is no leaf", NULL},
    {"T", get_transposed, NULL, "with its dimensions reversed", NULL},
    {"mT", get_matrix_transposed, NULL, "with its last two dimensions swapped", "mT"},
    {"mH", get_adjoint, NULL, "mT, with its elements' conjugates", "mH"},
    {"H", get_adjoint, NULL, "mH of a matrix", "H"},
    {"itemsize", get_itemsize, NULL, "the bytes of an element", NULL},
    {"nbytes", get_nbytes, NULL, "the bytes of its elements", NULL},
    {"is_cpu", get_is_cpu, NULL, "whether it is on the CPU", NULL},
    {"is_meta", get_is_meta, NULL, "whether it has no elements", NULL},
    {"is_cuda", get_false, NULL, "no: this engine has no such tensors", NULL},
    {"is_quantized", get_false, NULL, "no: this engine has no such tensors", NULL},
    {"data", get_data, set_data, "the same elements without history", NULL},
    {"_version", get_version, NULL, "how often its elements were written in place", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, "what users have set", NULL},
    {"_base", get_base, NULL, "the tensor that it is a view of, or None", NULL},
    {NULL}};
