/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * _FunctionBase: base of class Function, and of the ctx that forward and backward of a custom
 * function share. */
#include "engine/python/errors.h"
#include "engine/python/function.h"
#include "engine/python/node_object.h"
#include "engine/python/saved_tensor.h"
#include "engine/python/tensor_object.h"

#include <stddef.h>
#include <structmember.h>

static int
ctx_traverse(PyObject *self, visitproc visit, void *arg) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  Py_VISIT(ctx->to_save);
  Py_VISIT(ctx->non_differentiable);
  Py_VISIT(ctx->dirty_tensors);
  Py_VISIT(ctx->saved_for_forward);
  Py_VISIT(ctx->needs_input_grad);
  return 0;
}

static int
ctx_clear(PyObject *self) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  Py_CLEAR(ctx->to_save);
  Py_CLEAR(ctx->non_differentiable);
  Py_CLEAR(ctx->dirty_tensors);
  Py_CLEAR(ctx->saved_for_forward);
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
ctx_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)type->tp_alloc(type, 0);
  if (ctx) ctx->materialize_grads = ctx->materialize_non_diff_grads = true;
  return (PyObject *)ctx;
}

/* A new reference to the node of a ctx, or NULL. A node whose count is zero waits for the GIL in
 * order to end. It does not come back. */
static td_node *
hold_node(tdpy_function_ctx *ctx) {
  if (!ctx->function || !td_refcount_try_inc(&ctx->function->node.refs)) return NULL;
  return &ctx->function->node;
}

/* The ctx has the attributes of its node too: name(), next_functions, register_hook and so on. */
static PyObject *
ctx_getattr(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyObject *is_of_node = PyDict_GetItem(tdpy_node_type.tp_dict, name);
  if (!is_of_node || !((tdpy_function_ctx *)self)->needs_input_grad) return NULL;
  PyErr_Clear();
  td_node *node = hold_node((tdpy_function_ctx *)self);
  if (!node)
    return PyErr_Format(
        PyExc_RuntimeError,
        "Attribute '%U' is invalid for this instance of _C._FunctionBase. Accessing this attribute "
        "directly on an instance of autograd.Function is a legacy access pattern that is no longer "
        "supported. For examples on how to use new-style autograd functions, see "
        "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ",
        name);
  PyObject *object = tdpy_node_wrap(node);
  td_node_unref(node);
  value = object ? PyObject_GenericGetAttr(object, name) : NULL;
  Py_XDECREF(object);
  return value;
}

static PyObject *
get_saved_tensors(PyObject *self, void *closure) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  td_node *node = hold_node(ctx);
  if (!node) return PyTuple_New(0);
  td_error error = {0};
  PyObject *tensors = NULL;
  if (ctx->function->was_released)
    tdpy_check(td_saved_variable_refuse_released(&error), &error);
  else
    tensors = tdpy_saved_unpack_all(ctx->function->saved, ctx->function->n_saved, node);
  td_node_unref(node);
  return tensors;
}

static PyObject *
get_saved_variables(PyObject *self, void *closure) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, "'saved_variables' is deprecated; use 'saved_tensors'",
                   1))
    return NULL;
  return get_saved_tensors(self, closure);
}

/* A write-only bool; closure is its offset. */
static int
set_bool(PyObject *self, PyObject *value, void *closure) {
  if (!value || !PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError,
                 "set_materialize_grads received an invalid combination of arguments - got (%s), "
                 "but expected (bool)",
                 value ? Py_TYPE(value)->tp_name : "");
    return -1;
  }
  *(bool *)((char *)self + (size_t)closure) = value == Py_True;
  return 0;
}

#define FIELD(name)                                                                                \
  { #name, T_OBJECT, offsetof(tdpy_function_ctx, name), 0, NULL }

static PyMemberDef ctx_members[] = {FIELD(to_save),          FIELD(non_differentiable),
                                    FIELD(dirty_tensors),    FIELD(saved_for_forward),
                                    FIELD(needs_input_grad), {NULL}};

static PyGetSetDef ctx_getset[] = {
    {"saved_tensors", get_saved_tensors, NULL, "what was saved for backward", NULL},
    {"saved_variables", get_saved_variables, NULL, "the old name of saved_tensors", NULL},
    {"materialize_grads", NULL, set_bool, NULL,
     (void *)offsetof(tdpy_function_ctx, materialize_grads)},
    {"_materialize_non_diff_grads", NULL, set_bool, NULL,
     (void *)offsetof(tdpy_function_ctx, materialize_non_diff_grads)},
    {NULL}};

static PyMethodDef ctx_methods[] = {{"apply", (PyCFunction)(void (*)(void))tdpy_function_apply,
                                     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
                                     "Runs forward and remembers how to go back."},
                                    {NULL}};

PyTypeObject tdpy_function_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck._C._FunctionBase",
    .tp_basicsize = sizeof(tdpy_function_ctx),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = ctx_new,
    .tp_dealloc = ctx_dealloc,
    .tp_traverse = ctx_traverse,
    .tp_clear = ctx_clear,
    .tp_getattro = ctx_getattr,
    .tp_members = ctx_members,
    .tp_methods = ctx_methods,
    .tp_getset = ctx_getset,
};

int
tdpy_function_add(PyObject *module) {
  return PyModule_AddType(module, &tdpy_function_base_type);
}
