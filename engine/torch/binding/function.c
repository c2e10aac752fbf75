/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The forward half of custom functions. */
#include "engine/torch/binding/function.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/pending.h"

bool
tdpy_function_is_custom(const td_node *node) {
  return node->klass == &tdpy_function_class;
}

PyObject *
tdpy_function_context(td_node *node) {
  return tdpy_function_is_custom(node) ? ((tdpy_function *)node)->context : NULL;
}

static tdpy_function_ctx *
new_ctx(PyObject *type, PyObject *args) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  PyObject *ctx_type = PyObject_GetAttrString(type, "_backward_cls");
  PyObject *object = ctx_type ? PyObject_CallNoArgs(ctx_type) : NULL;
  Py_XDECREF(ctx_type);
  if (!object) return NULL;
  assert(Py_TYPE(object)->tp_basicsize >= (Py_ssize_t)sizeof(tdpy_function_ctx));
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)object;
  ctx->needs_input_grad = PyTuple_New(n);
  for (Py_ssize_t i = 0; ctx->needs_input_grad && i < n; i++) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    bool needed = tdpy_tensor_is(item) && td_requires_grad(tdpy_tensor_of(item));
    PyTuple_SET_ITEM(ctx->needs_input_grad, i, PyBool_FromLong(needed));
  }
  return ctx;
}

/* As in PyTorch, the node exists before forward runs: its sequence number precedes those of
 * nodes that forward makes. This uses up a number even if nothing needs a gradient. */
static tdpy_function *
new_function(PyObject *args, tdpy_function_ctx *ctx) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  uint32_t n_tensors = 0;
  td_tensor **tensors = TD_NEW_N(td_tensor *, n + 1);
  bool *is_tensor = TD_NEW_N(bool, n + 1);
  for (Py_ssize_t i = 0; i < n; i++)
    if ((is_tensor[i] = tdpy_tensor_is(PyTuple_GET_ITEM(args, i))))
      tensors[n_tensors++] = tdpy_tensor_of(PyTuple_GET_ITEM(args, i));
  for (uint32_t i = 0; i < n_tensors && td_grad_mode(); i++)
    td_grad_fn(tensors[i]); /* a view's new grad_fn takes its number before this node */
  if (td_pending()) {
    free(tensors);
    free(is_tensor);
    return NULL;
  }
  tdpy_function *function =
      td_function_begin(&tdpy_function_class, sizeof *function, tensors, n_tensors);
  free(tensors);
  if (!function) {
    td_sequence_nr_next();
    free(is_tensor);
    return NULL;
  }
  function->name = td_dup_string(Py_TYPE(ctx)->tp_name);
  function->n_arguments = (uint32_t)n;
  function->is_tensor = is_tensor;
  function->context = Py_NewRef((PyObject *)ctx);
  ctx->function = function;
  return function;
}

/* (ctx, *args) */
static PyObject *
with_ctx(const tdpy_forward_call *call) {
  Py_ssize_t n = PyTuple_GET_SIZE(call->args);
  PyObject *args = PyTuple_New(n + 1);
  if (!args) return NULL;
  PyTuple_SET_ITEM(args, 0, Py_NewRef((PyObject *)call->ctx));
  for (Py_ssize_t i = 0; i < n; i++)
    PyTuple_SET_ITEM(args, i + 1, Py_NewRef(PyTuple_GET_ITEM(call->args, i)));
  return args;
}

/* forward(*args), then setup_context(ctx, args, output). */
static PyObject *
call_separate(const tdpy_forward_call *call, PyObject *forward, PyObject *setup_context) {
  PyObject *result = PyObject_Call(forward, call->args, call->kwargs);
  PyObject *nothing = result ? PyObject_CallFunctionObjArgs(setup_context, (PyObject *)call->ctx,
                                                            call->args, result, NULL)
                             : NULL;
  if (!nothing) Py_CLEAR(result);
  Py_XDECREF(nothing);
  return result;
}

static PyObject *
call_forward(const tdpy_forward_call *call, PyObject *forward, PyObject *setup_context) {
  if (setup_context != Py_None) return call_separate(call, forward, setup_context);
  PyObject *args = with_ctx(call);
  PyObject *result = args ? PyObject_Call(forward, args, call->kwargs) : NULL;
  Py_XDECREF(args);
  return result;
}

/* The class's _own_setup_context is None if forward itself takes the ctx. */
static PyObject *
run_forward(PyObject *type, const tdpy_forward_call *call) {
  PyObject *forward = PyObject_GetAttrString(type, "forward");
  PyObject *setup_context = forward ? PyObject_GetAttrString(type, "_own_setup_context") : NULL;
  PyObject *result = NULL;
  if (setup_context) {
    bool grad_mode = td_grad_mode();
    td_grad_mode_set(false);
    result = call_forward(call, forward, setup_context);
    td_grad_mode_set(grad_mode);
  }
  Py_XDECREF(setup_context);
  Py_XDECREF(forward);
  return result;
}

static int
save_tensor(tdpy_function *function, PyObject *item, Py_ssize_t i) {
  if (item != Py_None && !tdpy_tensor_is(item)) {
    PyErr_Format(PyExc_TypeError,
                 "save_for_backward can only save variables, but argument %zd is of type %s", i,
                 Py_TYPE(item)->tp_name);
    return 0;
  }
  td_tensor *tensor = item == Py_None ? NULL : tdpy_tensor_of(item);
  bool is_output = tensor && td_grad_fn(tensor) == &function->node;
  function->saved[i].number = (uint8_t)i;
  td_saved_variable_init(&function->saved[function->n_saved++], tensor, is_output);
  if (td_recording()) td_saved_variable_announce(&function->saved[i], &function->node);
  return 1;
}

static int
save_tensors(tdpy_forward_call *call) {
  PyObject *to_save = call->ctx->to_save;
  if (!to_save || to_save == Py_None) return 1;
  if (!PyTuple_Check(to_save)) {
    PyErr_Format(PyExc_RuntimeError,
                 "autograd internal error: to_save attribute is expected to be a tuple but is %s",
                 Py_TYPE(to_save)->tp_name);
    return 0;
  }
  Py_ssize_t n = PyTuple_GET_SIZE(to_save);
  call->function->saved = TD_NEW_N(td_saved_variable, n + 1);
  for (Py_ssize_t i = 0; i < n; i++)
    if (!save_tensor(call->function, PyTuple_GET_ITEM(to_save, i), i)) return 0;
  return 1;
}

static int
forward(PyObject *type, tdpy_forward_call *call) {
  PyObject *result = run_forward(type, call);
  td_creation_hold(1);
  int fine = result && tdpy_function_take_outputs(call, result);
  if (fine && call->function) fine = save_tensors(call);
  if (fine && call->function && !call->in_slices) td_creation_note(&call->function->node);
  td_creation_hold(-1);
  Py_XDECREF(result);
  Py_CLEAR(call->ctx->to_save);
  Py_CLEAR(call->ctx->non_differentiable);
  Py_CLEAR(call->ctx->dirty_tensors);
  if (call->function) td_node_unref(&call->function->node);
  return fine;
}

PyObject *
tdpy_function_apply(PyObject *type, PyObject *args, PyObject *kwargs) {
  tdpy_forward_call call = {.args = args, .kwargs = kwargs, .ctx = new_ctx(type, args)};
  if (!call.ctx) return NULL;
  call.function = new_function(args, call.ctx);
  PyObject *outputs = NULL;
  if (tdpy_check(TD_OK, &(td_error){0}) && forward(type, &call) &&
      tdpy_check(TD_OK, &(td_error){0}))
    outputs = Py_NewRef(call.single ? PyTuple_GET_ITEM(call.outputs, 0) : call.outputs);
  Py_XDECREF(call.outputs);
  Py_DECREF(call.ctx);
  return outputs;
}
