/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The forward half of custom functions. */
#include "engine/python/function.h"

#include "engine/base/alloc.h"
#include "engine/python/errors.h"
#include "engine/python/tensor_object.h"

/* Forward in the making. */
typedef struct call {
  PyObject *args;          /* (borrowed) tuple of forward's arguments */
  tdpy_function_ctx *ctx;  /* (owned reference) */
  tdpy_function *function; /* (owned reference), or NULL where no gradient is wanted */
  PyObject *outputs;       /* (owned) tuple of what forward returned */
  bool single;             /* it returned one thing, no tuple */
} call;

bool
tdpy_function_is_custom(const td_node *node) {
  return node->klass == &tdpy_function_class;
}

PyObject *
tdpy_function_context(td_node *node) {
  return tdpy_function_is_custom(node) ? ((tdpy_function *)node)->context : NULL;
}

static tdpy_function_ctx *
new_ctx(PyObject *args) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  tdpy_function_ctx *ctx =
      (tdpy_function_ctx *)tdpy_function_ctx_type.tp_alloc(&tdpy_function_ctx_type, 0);
  if (!ctx) return NULL;
  ctx->materialize_grads = 1;
  ctx->needs_input_grad = PyTuple_New(n);
  for (Py_ssize_t i = 0; ctx->needs_input_grad && i < n; i++) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    bool needed = tdpy_tensor_is(item) && td_requires_grad(tdpy_tensor_of(item));
    PyTuple_SET_ITEM(ctx->needs_input_grad, i, PyBool_FromLong(needed));
  }
  return ctx;
}

/* The node is made before forward runs, as in PyTorch, so that its sequence number precedes those
 * of nodes that forward makes; and a number is used up even where no gradient is wanted. */
static tdpy_function *
new_function(PyObject *type, PyObject *args, tdpy_function_ctx *ctx) {
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  uint32_t n_tensors = 0;
  td_tensor **tensors = TD_NEW_N(td_tensor *, n + 1);
  bool *is_tensor = TD_NEW_N(bool, n + 1);
  for (Py_ssize_t i = 0; i < n; i++)
    if ((is_tensor[i] = tdpy_tensor_is(PyTuple_GET_ITEM(args, i))))
      tensors[n_tensors++] = tdpy_tensor_of(PyTuple_GET_ITEM(args, i));
  tdpy_function *function =
      td_function_begin(&tdpy_function_class, sizeof *function, tensors, n_tensors);
  free(tensors);
  if (!function) {
    td_sequence_nr_next();
    free(is_tensor);
    return NULL;
  }
  function->name = td_format("%sBackward", ((PyTypeObject *)type)->tp_name);
  function->n_arguments = (uint32_t)n;
  function->is_tensor = is_tensor;
  function->context = Py_NewRef((PyObject *)ctx);
  function->backward = PyObject_GetAttrString(type, "backward");
  if (!function->backward) PyErr_Clear();
  ctx->function = function;
  return function;
}

static PyObject *
run_forward(PyObject *type, call *now) {
  PyObject *forward = PyObject_GetAttrString(type, "forward");
  Py_ssize_t n = PyTuple_GET_SIZE(now->args);
  PyObject *with_ctx = forward ? PyTuple_New(n + 1) : NULL;
  PyObject *result = NULL;
  if (with_ctx) {
    PyTuple_SET_ITEM(with_ctx, 0, Py_NewRef((PyObject *)now->ctx));
    for (Py_ssize_t i = 0; i < n; i++)
      PyTuple_SET_ITEM(with_ctx, i + 1, Py_NewRef(PyTuple_GET_ITEM(now->args, i)));
    bool grad_mode = td_grad_mode();
    td_grad_mode_set(false);
    result = PyObject_Call(forward, with_ctx, NULL);
    td_grad_mode_set(grad_mode);
  }
  Py_XDECREF(with_ctx);
  Py_XDECREF(forward);
  return result;
}

static bool
contains(PyObject *tuple, PyObject *object) {
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++)
    if (PyTuple_GET_ITEM(tuple, i) == object) return true;
  return false;
}

/* An input that forward returned as it is must not get a second history: its alias does. */
static PyObject *
own_output(const call *now, PyObject *output) {
  if (!tdpy_tensor_is(output) || !contains(now->args, output)) return Py_NewRef(output);
  return tdpy_tensor_wrap(td_tensor_detach(tdpy_tensor_of(output)));
}

static int
take_outputs(call *now, PyObject *result) {
  now->single = !PyTuple_Check(result);
  Py_ssize_t n = now->single ? 1 : PyTuple_GET_SIZE(result);
  now->outputs = PyTuple_New(n);
  for (Py_ssize_t i = 0; now->outputs && i < n; i++) {
    PyObject *output = own_output(now, now->single ? result : PyTuple_GET_ITEM(result, i));
    if (!output) return 0;
    PyTuple_SET_ITEM(now->outputs, i, output);
    if (tdpy_tensor_is(output)) continue;
    PyErr_Format(PyExc_TypeError, "%s.forward: expected Tensor or tuple of Tensor, got %s",
                 now->function ? now->function->name : "Function", Py_TYPE(output)->tp_name);
    return 0;
  }
  return now->outputs != NULL;
}

static void
connect_outputs(call *now) {
  uint32_t n = (uint32_t)PyTuple_GET_SIZE(now->outputs);
  td_tensor **results = TD_NEW_N(td_tensor *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    PyObject *output = PyTuple_GET_ITEM(now->outputs, i);
    if (!contains(now->ctx->non_differentiable, output)) results[i] = tdpy_tensor_of(output);
  }
  td_function_end(&now->function->node, results, n);
  free(results);
}

static void
save_tensors(call *now) {
  PyObject *to_save = now->ctx->to_save;
  uint32_t n = to_save ? (uint32_t)PyTuple_GET_SIZE(to_save) : 0;
  now->function->saved = TD_NEW_N(td_saved_variable, n + 1);
  now->function->n_saved = n;
  for (uint32_t i = 0; i < n; i++) {
    PyObject *item = PyTuple_GET_ITEM(to_save, i);
    td_saved_variable_init(&now->function->saved[i], item == Py_None ? NULL : tdpy_tensor_of(item),
                           contains(now->outputs, item));
  }
}

static int
forward(PyObject *type, call *now) {
  PyObject *result = run_forward(type, now);
  int fine = result && take_outputs(now, result);
  Py_XDECREF(result);
  if (!now->function) return fine;
  if (fine) {
    td_node_ref(&now->function->node);
    connect_outputs(now);
    save_tensors(now);
  }
  Py_CLEAR(now->ctx->to_save);
  td_node_unref(&now->function->node);
  return fine;
}

PyObject *
tdpy_function_apply(PyObject *type, PyObject *args) {
  call now = {.args = args, .ctx = new_ctx(args)};
  if (!now.ctx) return NULL;
  now.function = new_function(type, args, now.ctx);
  PyObject *outputs = NULL;
  if (forward(type, &now) && tdpy_check(TD_OK, &(td_error){0}))
    outputs = Py_NewRef(now.single ? PyTuple_GET_ITEM(now.outputs, 0) : now.outputs);
  Py_XDECREF(now.outputs);
  Py_DECREF(now.ctx);
  return outputs;
}
