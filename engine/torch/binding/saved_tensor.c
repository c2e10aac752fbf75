/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/saved_tensor.h"

#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/saved_hooks.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/ops/base/saved.h"

#include <string.h>

/* A place in a node that holds a saved tensor; or such a place of its own, without a node. */
typedef struct saved_tensor {
  PyObject_HEAD td_node *node; /* (owned reference) or NULL */
  td_saved_variable *saved;    /* (borrowed) the node's, or `own` */
  td_saved_variable own;
} saved_tensor;

/* Takes the node's mutex. Another thread may hold the mutex while it waits for the GIL. So this
 * releases the GIL while it waits for the mutex. */
static void
lock(td_node *node) {
  if (!node) return;
  Py_BEGIN_ALLOW_THREADS;
  td_node_lock(node);
  Py_END_ALLOW_THREADS;
}

static void
unlock(td_node *node) {
  if (node) td_node_unlock(node);
}

static PyObject *
unpack(td_saved_variable *saved, td_node *node) {
  td_error error = {0};
  td_tensor *tensor = NULL;
  lock(node);
  td_status status = td_saved_variable_get(saved, node, &tensor, &error);
  unlock(node);
  return tdpy_result(status, tensor, &error);
}

PyObject *
tdpy_saved_unpack_all(td_saved_variable *saved, uint32_t n, td_node *node) {
  PyObject *tuple = PyTuple_New(n);
  for (uint32_t i = 0; tuple && i < n; i++) {
    PyObject *item = unpack(&saved[i], node);
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

static void
dealloc(PyObject *object) {
  saved_tensor *self = (saved_tensor *)object;
  td_saved_variable_release(&self->own);
  td_node_unref(self->node);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
register_hooks(PyObject *self, PyObject *args) {
  saved_tensor *tensor = (saved_tensor *)self;
  td_error error = {0};
  bool two = PyTuple_GET_SIZE(args) == 2 && PyCallable_Check(PyTuple_GET_ITEM(args, 0)) &&
             PyCallable_Check(PyTuple_GET_ITEM(args, 1));
  if (!two)
    return PyErr_Format(PyExc_TypeError,
                        "register_hooks(): incompatible function arguments. The following argument "
                        "types are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: "
                        "function, arg1: function) -> None\n");
  PyObject *pack_hook = PyTuple_GET_ITEM(args, 0), *unpack_hook = PyTuple_GET_ITEM(args, 1);
  td_saved_hooks *hooks = tdpy_saved_hooks_new(pack_hook, unpack_hook);
  lock(tensor->node);
  td_status status = td_saved_variable_register(tensor->saved, hooks, &error);
  unlock(tensor->node);
  return tdpy_none(status, &error);
}

static PyObject *
unpack_it(PyObject *self, PyObject *unused) {
  return unpack(((saved_tensor *)self)->saved, ((saved_tensor *)self)->node);
}

static PyObject *
refuse_new(PyTypeObject *type_, PyObject *args, PyObject *kwargs) {
  PyErr_SetString(PyExc_RuntimeError,
                  "Trying to create a SavedTensor object from Python is forbidden.");
  return NULL;
}

static PyMethodDef methods[] = {
    {"unpack", unpack_it, METH_NOARGS, "Gives the tensor back, unless a write has changed it."},
    {"register_hooks", register_hooks, METH_VARARGS,
     "Keeps what pack(tensor) returns instead, and unpack(it) gives the tensor back."},
    {NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch._C.SavedTensor",
    .tp_basicsize = sizeof(saved_tensor),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a node saved for backward.",
    .tp_new = refuse_new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
};

static PyObject *
raw(td_saved_variable *saved, td_node *node) {
  saved_tensor *self = (saved_tensor *)type.tp_alloc(&type, 0);
  if (!self) return NULL;
  self->node = td_node_ref(node);
  self->saved = saved;
  return (PyObject *)self;
}

/* make(tensor) saves a tensor as a node would save an input. */
static PyObject *
make(PyObject *module, PyObject *tensor) {
  saved_tensor *self = tdpy_tensor_is(tensor) ? (saved_tensor *)type.tp_alloc(&type, 0) : NULL;
  if (!self) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a tensor is needed");
  self->saved = &self->own;
  td_saved_variable_init(self->saved, tdpy_tensor_of(tensor), false);
  if (tdpy_check(TD_OK, &(td_error){0})) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

PyMethodDef tdpy_saved_tensor_functions[] = {{"_make_saved_tensor", make, METH_O, NULL}, {NULL}};

/* Custom functions have no names for what they save. */
static PyObject *
raw_of_function(tdpy_function *function) {
  td_error error = {0};
  if (function->was_released) {
    tdpy_check(td_saved_variable_refuse_released(&error), &error);
    return NULL;
  }
  PyObject *tuple = PyTuple_New(function->n_saved);
  for (uint32_t i = 0; tuple && i < function->n_saved; i++) {
    PyObject *item = raw(&function->saved[i], &function->node);
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

PyObject *
tdpy_saved_attribute(PyObject *object, PyObject *name) {
  static const char raw_prefix[] = "_raw_saved_", prefix[] = "_saved_";
  td_node *node = ((tdpy_node *)object)->node;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  bool is_raw = strncmp(text, raw_prefix, sizeof raw_prefix - 1) == 0;
  if (!is_raw && strncmp(text, prefix, sizeof prefix - 1) != 0) return NULL;
  if (tdpy_function_is_custom(node))
    return strcmp(text, "_raw_saved_tensors") == 0 ? raw_of_function((tdpy_function *)node) : NULL;
  td_saved_variable *saved =
      td_op_saved_find(node, text + (is_raw ? sizeof raw_prefix : sizeof prefix) - 1);
  if (!saved) return NULL;
  return is_raw ? raw(saved, node) : unpack(saved, node);
}

int
tdpy_saved_add(PyObject *module) {
  return PyModule_AddType(module, &type);
}
