/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Post hooks of nodes, in Python. They are called on engine threads, which take the GIL for it. */
#include "engine/python/errors.h"
#include "engine/python/node_object.h"

#include "engine/base/alloc.h"

typedef struct python_hook {
  td_post_hook hook;
  PyObject *callable; /* (owned reference) */
} python_hook;

static int
check_result(PyObject *result) {
  if (!result) return 0;
  if (result != Py_None)
    PyErr_SetString(PyExc_NotImplementedError,
                    "a hook that returns new gradients is not supported yet: return None");
  Py_DECREF(result);
  return result == Py_None;
}

static td_status
hook_call(td_post_hook *hook, td_node *node, td_tensor *const *outputs, td_tensor *const *inputs,
          td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *grad_inputs = tdpy_tensors_wrap(outputs, node->n_outputs);
  PyObject *grad_outputs = grad_inputs ? tdpy_tensors_wrap(inputs, node->n_inputs) : NULL;
  int fine = grad_outputs && check_result(PyObject_CallFunctionObjArgs(
                                 ((python_hook *)hook)->callable, grad_inputs, grad_outputs, NULL));
  Py_XDECREF(grad_inputs);
  Py_XDECREF(grad_outputs);
  td_status status = fine ? TD_OK : tdpy_fetch(error);
  PyGILState_Release(gil);
  return status;
}

static void
hook_free(td_post_hook *hook) {
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((python_hook *)hook)->callable);
    PyGILState_Release(gil);
  }
  free(hook);
}

/* A name for profiles: "module.function". */
static char *
owner_name(PyObject *callable) {
  PyObject *module = PyObject_GetAttrString(callable, "__module__");
  PyObject *name = PyObject_GetAttrString(callable, "__qualname__");
  PyErr_Clear();
  PyObject *text = module && name ? PyUnicode_FromFormat("%S.%S", module, name)
                                  : PyUnicode_FromString(Py_TYPE(callable)->tp_name);
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  char *owner = td_dup_string(utf8 ? utf8 : "hook");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(name);
  Py_XDECREF(module);
  return owner;
}

typedef struct handle_object {
  PyObject_HEAD tdpy_node *node; /* (owned reference) */
  td_post_hook *hook;            /* (borrowed from the node), NULL once removed */
} handle_object;

static void
handle_dealloc(PyObject *self) {
  Py_XDECREF(((handle_object *)self)->node);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
handle_remove(PyObject *self, PyObject *unused) {
  handle_object *handle = (handle_object *)self;
  td_post_hook *hook = handle->hook;
  handle->hook = NULL;
  if (hook) td_node_remove_post_hook(handle->node->node, hook);
  Py_RETURN_NONE;
}

static PyMethodDef handle_methods[] = {
    {"remove", handle_remove, METH_NOARGS, "Takes the hook away."}, {NULL}};

PyTypeObject tdpy_hook_handle_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.RemovableHandle",
    .tp_basicsize = sizeof(handle_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = handle_dealloc,
    .tp_methods = handle_methods,
};

PyObject *
tdpy_node_register_hook(PyObject *self, PyObject *callable) {
  if (!PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "the hook must be callable");
  handle_object *handle = PyObject_New(handle_object, &tdpy_hook_handle_type);
  if (!handle) return NULL;
  python_hook *hook = TD_NEW(python_hook);
  hook->hook = (td_post_hook){.call = hook_call, .free = hook_free, .owner = owner_name(callable)};
  hook->callable = Py_NewRef(callable);
  td_node_add_post_hook(((tdpy_node *)self)->node, &hook->hook);
  handle->node = (tdpy_node *)Py_NewRef(self);
  handle->hook = &hook->hook;
  return (PyObject *)handle;
}
