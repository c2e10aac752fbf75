/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backward half of custom functions. Engine threads call it, and take the GIL for it. */
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/tensor/factories.h"

static td_tensor *
zeros_for(const td_input_metadata *metadata) {
  td_tensor *zeros = NULL;
  if (!metadata->defined || td_tensor_new(metadata->dtype, metadata->device, metadata->n_dims,
                                          metadata->sizes, &zeros, NULL))
    return NULL;
  return zeros;
}

/* An undefined gradient becomes zeros, or None if the function wants that. */
static PyObject *
backward_arguments(tdpy_function *self, td_tensor *const *inputs) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self->context;
  PyObject *args = PyTuple_New(self->node.n_inputs);
  for (uint32_t i = 0; args && i < self->node.n_inputs; i++) {
    td_tensor *grad = td_tensor_ref(inputs[i]);
    bool wanted =
        ctx->materialize_grads && (ctx->materialize_non_diff_grads || self->is_differentiable[i]);
    if (!grad && wanted) grad = zeros_for(&self->node.input_metadata[i]);
    PyObject *item = tdpy_tensor_wrap(grad);
    if (!item)
      Py_CLEAR(args);
    else
      PyTuple_SET_ITEM(args, i, item);
  }
  return args;
}

static PyObject *
as_tuple(PyObject *result) {
  if (!result || PyTuple_Check(result)) return result;
  PyObject *tuple = PyTuple_Pack(1, result);
  Py_DECREF(result);
  return tuple;
}

/* The ctx's own method `apply` knows which function of the class runs backward. */
static PyObject *
call_backward(tdpy_function *self, td_tensor *const *inputs) {
  PyObject *args = backward_arguments(self, inputs);
  PyObject *apply = args ? PyObject_GetAttrString(self->context, "apply") : NULL;
  PyObject *result = apply ? as_tuple(PyObject_Call(apply, args, NULL)) : NULL;
  Py_XDECREF(apply);
  Py_XDECREF(args);
  return result;
}

static int
count_is_right(tdpy_function *self, PyObject *grads) {
  Py_ssize_t n = PyTuple_GET_SIZE(grads);
  while (n > self->n_arguments && PyTuple_GET_ITEM(grads, n - 1) == Py_None)
    n--;
  if (n == self->n_arguments) return 1;
  PyErr_Format(PyExc_RuntimeError,
               "function %s returned an incorrect number of gradients (expected %u, got %zd)",
               self->name, self->n_arguments, n);
  return 0;
}

static int
take_gradient(tdpy_function *self, uint32_t argument, PyObject *grad, td_tensor **output) {
  if (!self->is_tensor[argument]) {
    if (grad == Py_None) return 1;
    PyErr_Format(PyExc_RuntimeError,
                 "function %s returned a gradient different than None at position %u, but the "
                 "corresponding forward input was not a Variable",
                 self->name, argument + 1);
    return 0;
  }
  if (grad != Py_None && !tdpy_tensor_is(grad)) {
    PyErr_Format(PyExc_RuntimeError, "expected Variable or None (got %s)", Py_TYPE(grad)->tp_name);
    return 0;
  }
  *output = grad == Py_None ? NULL : td_tensor_ref(tdpy_tensor_of(grad));
  return 1;
}

static int
take_gradients(tdpy_function *self, PyObject *grads, td_tensor **outputs) {
  uint32_t output = 0;
  if (!count_is_right(self, grads)) return 0;
  for (uint32_t i = 0; i < self->n_arguments; i++) {
    if (!take_gradient(self, i, PyTuple_GET_ITEM(grads, i), &outputs[output])) {
      while (output > 0) {
        td_tensor_unref(outputs[--output]);
        outputs[output] = NULL;
      }
      return 0;
    }
    output += self->is_tensor[i];
  }
  return 1;
}

static td_status
function_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  tdpy_function *self = (tdpy_function *)node;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *grads = call_backward(self, inputs);
  int fine = grads && take_gradients(self, grads, outputs);
  Py_XDECREF(grads);
  td_status status = fine ? TD_OK : tdpy_fetch(error);
  PyGILState_Release(gil);
  return status;
}

static void
release_saved(tdpy_function *self) {
  for (uint32_t i = 0; i < self->n_saved; i++)
    td_saved_variable_release(&self->saved[i]);
}

/* A node that ends leaves this to its fini, for its ctx may live on. */
static void
function_release_variables(td_node *node) {
  if (td_refcount_get(&node->refs) == 0) return;
  ((tdpy_function *)node)->was_released = true;
  release_saved((tdpy_function *)node);
}

/* A program that keeps the ctx can still ask for what was saved. */
static void
leave_saved(tdpy_function *self, tdpy_function_ctx *ctx) {
  ctx->function = NULL;
  if (Py_REFCNT(ctx) == 1) return;
  ctx->saved = self->saved;
  ctx->n_saved = self->n_saved;
  ctx->was_released = self->was_released;
  self->saved = NULL;
  self->n_saved = 0;
}

static void
function_fini(td_node *node) {
  tdpy_function *self = (tdpy_function *)node;
  if (Py_IsInitialized() && self->context) {
    PyGILState_STATE gil = PyGILState_Ensure();
    leave_saved(self, (tdpy_function_ctx *)self->context);
    Py_DECREF(self->context);
    PyGILState_Release(gil);
  }
  release_saved(self);
  free(self->saved);
  free(self->is_tensor);
  free(self->is_differentiable);
  free(self->name);
}

static const char *
function_name(const td_node *node) {
  return ((const tdpy_function *)node)->name;
}

const td_node_class tdpy_function_class = {
    .name = "PythonFunction",
    .apply = function_apply,
    .release_variables = function_release_variables,
    .fini = function_fini,
    .name_of = function_name,
};
