/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ctx that forward and backward of a custom function share, and the class Function itself. */
#include "engine/python/errors.h"
#include "engine/python/function.h"
#include "engine/python/tensor_object.h"

#include <stddef.h>

static int
ctx_traverse(PyObject *self, visitproc visit, void *arg) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  Py_VISIT(ctx->dict);
  Py_VISIT(ctx->to_save);
  Py_VISIT(ctx->non_differentiable);
  Py_VISIT(ctx->needs_input_grad);
  return 0;
}

static int
ctx_clear(PyObject *self) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  Py_CLEAR(ctx->dict);
  Py_CLEAR(ctx->to_save);
  Py_CLEAR(ctx->non_differentiable);
  Py_CLEAR(ctx->needs_input_grad);
  return 0;
}

static void
ctx_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  ctx_clear(self);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
save_for_backward(PyObject *self, PyObject *tensors) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); i++) {
    PyObject *item = PyTuple_GET_ITEM(tensors, i);
    if (item != Py_None && !tdpy_tensor_is(item))
      return PyErr_Format(
          PyExc_TypeError,
          "save_for_backward can only save variables, but argument %zd is of type %s", i,
          Py_TYPE(item)->tp_name);
  }
  Py_XSETREF(((tdpy_function_ctx *)self)->to_save, Py_NewRef(tensors));
  Py_RETURN_NONE;
}

static PyObject *
mark_non_differentiable(PyObject *self, PyObject *tensors) {
  Py_XSETREF(((tdpy_function_ctx *)self)->non_differentiable, Py_NewRef(tensors));
  Py_RETURN_NONE;
}

static PyObject *
mark_dirty(PyObject *self, PyObject *tensors) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "mark_dirty: functions that work in place are not supported yet");
  return NULL;
}

static PyObject *
set_materialize_grads(PyObject *self, PyObject *value) {
  int wanted = PyObject_IsTrue(value);
  if (wanted < 0) return NULL;
  ((tdpy_function_ctx *)self)->materialize_grads = wanted;
  Py_RETURN_NONE;
}

static PyObject *
unpack(tdpy_function *function) {
  PyObject *tuple = PyTuple_New(function->n_saved);
  for (uint32_t i = 0; tuple && i < function->n_saved; i++) {
    td_tensor *tensor = NULL;
    td_error error = {0};
    td_status status =
        td_saved_variable_unpack(&function->saved[i], &function->node, &tensor, &error);
    PyObject *item = tdpy_result(status, tensor, &error);
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

static PyObject *
get_saved_tensors(PyObject *self, void *closure) {
  tdpy_function *function = ((tdpy_function_ctx *)self)->function;
  return function ? unpack(function) : PyTuple_New(0);
}

static PyObject *
get_needs_input_grad(PyObject *self, void *closure) {
  PyObject *needs = ((tdpy_function_ctx *)self)->needs_input_grad;
  return Py_NewRef(needs ? needs : Py_None);
}

static PyMethodDef ctx_methods[] = {
    {"save_for_backward", save_for_backward, METH_VARARGS, "Keeps tensors for backward."},
    {"mark_non_differentiable", mark_non_differentiable, METH_VARARGS, "Outputs without gradient."},
    {"mark_dirty", mark_dirty, METH_VARARGS, "Not supported yet."},
    {"set_materialize_grads", set_materialize_grads, METH_O,
     "Whether backward sees zeros for None."},
    {NULL}};

static PyGetSetDef ctx_getset[] = {
    {"saved_tensors", get_saved_tensors, NULL, "what was saved for backward", NULL},
    {"needs_input_grad", get_needs_input_grad, NULL, "which arguments want a gradient", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL}};

PyTypeObject tdpy_function_ctx_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.autograd.FunctionCtx",
    .tp_basicsize = sizeof(tdpy_function_ctx),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_dictoffset = offsetof(tdpy_function_ctx, dict),
    .tp_dealloc = ctx_dealloc,
    .tp_traverse = ctx_traverse,
    .tp_clear = ctx_clear,
    .tp_methods = ctx_methods,
    .tp_getset = ctx_getset,
};

static PyMethodDef function_methods[] = {{"apply", tdpy_function_apply, METH_VARARGS | METH_CLASS,
                                          "Runs forward and remembers how to go back."},
                                         {NULL}};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.autograd.Function",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc =
        "Base class of custom functions: static methods forward(ctx, ...) and backward(ctx, ...).",
    .tp_methods = function_methods,
};

int
tdpy_function_add(PyObject *module) {
  return PyType_Ready(&tdpy_function_ctx_type) || PyModule_AddType(module, &function_type) ? -1 : 0;
}
