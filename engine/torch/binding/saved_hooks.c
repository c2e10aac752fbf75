/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saved-tensor hooks that are Python functions. */
#include "engine/torch/binding/saved_hooks.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/semantics.h"

typedef struct python_hooks {
  td_saved_hooks base;
  PyObject *pack, *unpack; /* (owned references) */
} python_hooks;

/* The exception of a hook. PyTorch 1.13 makes it a RuntimeError. */
static td_status
fetch(td_error *error) {
  td_status status = tdpy_fetch(error);
  if (td_policy(name_operations)) return status;
  error->foreign_free(error->foreign);
  error->foreign = NULL;
  return error->status = TD_AUTOGRAD;
}

static td_status
pack(td_saved_hooks *hooks, td_tensor *tensor, void **object, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *wrapped = tdpy_tensor_wrap(td_tensor_ref(tensor));
  *object = wrapped ? PyObject_CallOneArg(((python_hooks *)hooks)->pack, wrapped) : NULL;
  Py_XDECREF(wrapped);
  td_status status = *object ? TD_OK : fetch(error);
  PyGILState_Release(gil);
  return status;
}

static td_status
take_unpacked(PyObject *result, td_tensor **tensor, td_error *error) {
  if (!result) return fetch(error);
  if (tdpy_tensor_is(result)) {
    *tensor = td_tensor_ref(tdpy_tensor_of(result));
    return TD_OK;
  }
  PyErr_Format(
      PyExc_TypeError,
      "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s",
      Py_TYPE(result)->tp_name);
  return tdpy_fetch(error);
}

static td_status
unpack(td_saved_hooks *hooks, void *object, td_tensor **tensor, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *result = PyObject_CallOneArg(((python_hooks *)hooks)->unpack, object);
  td_status status = take_unpacked(result, tensor, error);
  Py_XDECREF(result);
  PyGILState_Release(gil);
  return status;
}

static void
free_object(td_saved_hooks *hooks, void *object) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF((PyObject *)object);
  PyGILState_Release(gil);
}

static void
free_hooks(td_saved_hooks *hooks) {
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((python_hooks *)hooks)->pack);
    Py_DECREF(((python_hooks *)hooks)->unpack);
    PyGILState_Release(gil);
  }
  free(hooks);
}

td_saved_hooks *
tdpy_saved_hooks_new(PyObject *pack_hook, PyObject *unpack_hook) {
  python_hooks *hooks = TD_NEW(python_hooks);
  hooks->base = (td_saved_hooks){
      .pack = pack, .unpack = unpack, .free_object = free_object, .free = free_hooks};
  td_refcount_init(&hooks->base.refs);
  hooks->pack = Py_NewRef(pack_hook);
  hooks->unpack = Py_NewRef(unpack_hook);
  return &hooks->base;
}

static PyObject *
push(PyObject *self, PyObject *args) {
  PyObject *pack_hook, *unpack_hook;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "OO:push", &pack_hook, &unpack_hook)) return NULL;
  return tdpy_none(td_saved_hooks_push(tdpy_saved_hooks_new(pack_hook, unpack_hook), &error),
                   &error);
}

static PyObject *
pop(PyObject *self, PyObject *unused) {
  td_saved_hooks_pop();
  Py_RETURN_NONE;
}

/* top() returns the pair in force, or None. */
static PyObject *
top(PyObject *self, PyObject *unused) {
  td_saved_hooks *hooks = td_saved_hooks_now();
  if (!hooks || hooks->pack != pack) Py_RETURN_NONE;
  return PyTuple_Pack(2, ((python_hooks *)hooks)->pack, ((python_hooks *)hooks)->unpack);
}

/* disable(message or None) returns the previous message, or None. */
static PyObject *
disable(PyObject *self, PyObject *message) {
  const char *text = NULL, *before = td_saved_hooks_disabled();
  td_error error = {0};
  if (message != Py_None && !(text = PyUnicode_AsUTF8(message))) return NULL;
  PyObject *result = before ? PyUnicode_FromString(before) : Py_NewRef(Py_None);
  if (tdpy_check(td_saved_hooks_disable(text, &error), &error)) return result;
  Py_XDECREF(result);
  return NULL;
}

static PyObject *
is_disabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_saved_hooks_disabled() != NULL);
}

PyMethodDef tdpy_saved_hooks_functions[] = {
    {"_saved_tensors_hooks_disabled", is_disabled, METH_NOARGS, NULL},
    {"_push_saved_tensors_default_hooks", push, METH_VARARGS, NULL},
    {"_pop_saved_tensors_default_hooks", pop, METH_NOARGS, NULL},
    {"_top_saved_tensors_default_hooks", top, METH_NOARGS, NULL},
    {"_disable_saved_tensors_hooks", disable, METH_O, NULL},
    {NULL}};
