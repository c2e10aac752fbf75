/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Watching writes in place from Python. */
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/graph/version.h"
#include "engine/torch/graph/write_watch.h"

static _Thread_local PyObject *watcher; /* (owned reference) or NULL */

static td_status
call_watcher(const td_tensor *tensor, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *wrapped = tdpy_tensor_wrap(td_tensor_ref((td_tensor *)tensor));
  PyObject *result = wrapped ? PyObject_CallOneArg(watcher, wrapped) : NULL;
  td_status status = result ? TD_OK : tdpy_fetch(error);
  Py_XDECREF(wrapped);
  Py_XDECREF(result);
  PyGILState_Release(gil);
  return status;
}

static PyObject *
watch_writes(PyObject *self, PyObject *function) {
  PyObject *before = watcher;
  watcher = function == Py_None ? NULL : Py_NewRef(function);
  td_write_watch_set(watcher ? call_watcher : NULL);
  return before ? before : Py_NewRef(Py_None);
}

/* (what is equal for tensors that share elements and version counter, where the elements begin) */
static PyObject *
place(PyObject *self, PyObject *tensor) {
  if (!tdpy_tensor_is(tensor))
    return PyErr_Format(PyExc_TypeError, "expected a Tensor, not %s", Py_TYPE(tensor)->tp_name);
  const td_tensor *of = tdpy_tensor_of(tensor);
  return Py_BuildValue("NL", PyLong_FromVoidPtr(td_tensor_counter(of)), (long long)of->offset);
}

PyMethodDef tdpy_write_watch_functions[] = {
    {"_watch_writes", watch_writes, METH_O,
     "Sets what is called with a tensor before this thread writes into it. Returns what was set."},
    {"_place", place, METH_O, NULL},
    {NULL}};
