/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Node creation hooks that are Python functions. Threads of the engine take the GIL for them. */
#include "engine/torch/binding/creation.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/callable_name.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/graph/creation.h"

typedef struct python_hook {
  td_creation_hook base;
  PyObject *callable; /* (owned reference) */
} python_hook;

static td_status
call(td_creation_hook *hook, td_node *node, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *object = tdpy_node_wrap(node);
  PyObject *result = object ? PyObject_CallOneArg(((python_hook *)hook)->callable, object) : NULL;
  if (result && result != Py_None) {
    PyErr_Format(PyExc_RuntimeError, "node creation hook must return None, got %s",
                 Py_TYPE(result)->tp_name);
    Py_CLEAR(result);
  }
  td_status status = result ? TD_OK : tdpy_fetch(error);
  Py_XDECREF(result);
  Py_XDECREF(object);
  PyGILState_Release(gil);
  return status;
}

static void
free_hook(td_creation_hook *hook) {
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((python_hook *)hook)->callable);
    PyGILState_Release(gil);
  }
  free(hook);
}

static PyObject *
push(PyObject *module, PyObject *callable) {
  if (!PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError,
                        "_push_node_creation_hook(): incompatible function arguments. The "
                        "following argument types are supported:\n"
                        "    1. (arg0: collections.abc.Callable) -> None\n\nInvoked with: %R",
                        callable);
  python_hook *hook = TD_NEW(python_hook);
  hook->base =
      (td_creation_hook){.call = call, .free = free_hook, .owner = tdpy_callable_name(callable)};
  td_refcount_init(&hook->base.refs);
  hook->callable = Py_NewRef(callable);
  td_creation_push(&hook->base);
  Py_RETURN_NONE;
}

/* What nobody has called the hooks for yet still belongs to them. */
static PyObject *
pop(PyObject *module, PyObject *unused) {
  td_error error = {0};
  td_status status = td_creation_call(&error);
  td_creation_pop();
  return tdpy_none(status, &error);
}

PyMethodDef tdpy_creation_functions[] = {{"_push_node_creation_hook", push, METH_O, NULL},
                                         {"_pop_node_creation_hook", pop, METH_NOARGS, NULL},
                                         {NULL}};
