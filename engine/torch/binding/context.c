/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * _FunctionBase: base of class Function, and of the ctx that forward and backward of a custom
 * function share. */
#include "engine/base/alloc.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/saved_tensor.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/pass/expose.h"

#include <stddef.h>
#include <structmember.h>

static int
ctx_traverse(PyObject *self, visitproc visit, void *arg) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  Py_VISIT(ctx->to_save);
  Py_VISIT(ctx->non_differentiable);
  Py_VISIT(ctx->dirty_tensors);
  Py_VISIT(ctx->saved_for_forward);
  Py_VISIT(ctx->output_grad_dtypes);
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
  Py_CLEAR(ctx->output_grad_dtypes);
  Py_CLEAR(ctx->needs_input_grad);
  return 0;
}

static void
ctx_dealloc(PyObject *self) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  PyObject_GC_UnTrack(self);
  ctx_clear(self);
  for (uint32_t i = 0; i < ctx->n_saved; i++)
    td_saved_variable_release(&ctx->saved[i]);
  free(ctx->saved);
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
refuse_released(void) {
  td_error error = {0};
  tdpy_check(td_saved_variable_refuse_released(&error), &error);
  return NULL;
}

/* Before PyTorch 2 nothing was there without the node. */
static PyObject *
saved_without_node(tdpy_function_ctx *ctx) {
  bool is_gone = ctx->needs_input_grad && !td_policy(name_operations);
  if (ctx->was_released || is_gone) return refuse_released();
  return tdpy_saved_unpack_all(ctx->saved, ctx->n_saved, NULL);
}

static PyObject *
get_saved_tensors(PyObject *self, void *closure) {
  tdpy_function_ctx *ctx = (tdpy_function_ctx *)self;
  td_node *node = hold_node(ctx);
  if (!node) return saved_without_node(ctx);
  PyObject *tensors = NULL;
  if (ctx->function->was_released)
    refuse_released();
  else
    tensors = tdpy_saved_unpack_all(ctx->function->saved, ctx->function->n_saved, node);
  td_node_unref(node);
  return tensors;
}

/* One entry for each argument of forward. */
static PyObject *
wrap_sums(const tdpy_function *function, td_tensor *const *sums) {
  PyObject *tuple = PyTuple_New(function->n_arguments);
  uint32_t output_nr = 0;
  for (uint32_t i = 0; tuple && i < function->n_arguments; i++) {
    td_tensor *sum = function->is_tensor[i] ? sums[output_nr++] : NULL;
    PyObject *item = tdpy_tensor_wrap(td_tensor_ref(sum));
    if (item)
      PyTuple_SET_ITEM(tuple, i, item);
    else
      Py_CLEAR(tuple);
  }
  return tuple;
}

static td_status
expose_sums(tdpy_function *function, td_tensor **sums, td_error *error) {
  if (td_node_has_hooks(&function->node, TD_HOOKS(post)))
    return td_error_set(error, TD_AUTOGRAD,
                        "input_grad_buffers does not support post-hooks on the producing autograd "
                        "node because directly accumulated gradients are returned as None and "
                        "cannot be observed or replaced by those hooks");
  return td_expose(&function->node, sums, error);
}

static PyObject *
get_input_grad_buffers(PyObject *self, void *closure) {
  td_node *node = hold_node((tdpy_function_ctx *)self);
  tdpy_function *function = (tdpy_function *)node;
  td_error error = {0};
  if (!node) return tdpy_none(td_expose(NULL, NULL, &error), &error);
  td_tensor **sums = TD_NEW_N(td_tensor *, node->n_outputs + 1);
  bool fine = tdpy_check(expose_sums(function, sums, &error), &error);
  PyObject *tuple = fine ? wrap_sums(function, sums) : NULL;
  for (uint32_t i = 0; i < node->n_outputs; i++)
    td_tensor_unref(sums[i]);
  free(sums);
  td_node_unref(node);
  return tuple;
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

static PyMemberDef ctx_members[] = {FIELD(to_save),
                                    FIELD(non_differentiable),
                                    FIELD(dirty_tensors),
                                    FIELD(saved_for_forward),
                                    FIELD(needs_input_grad),
                                    FIELD(output_grad_dtypes),
                                    {NULL}};

static PyGetSetDef ctx_getset[] = {
    {"saved_tensors", get_saved_tensors, NULL, "what was saved for backward", NULL},
    {"_input_grad_buffers", get_input_grad_buffers, NULL,
     "the sums to which backward may add by itself", NULL},
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
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch._C._FunctionBase",
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
