/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/errors.h"

#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/pending.h"

static PyObject *
exception_for(td_status status) {
  switch (status) {
  case TD_OUT_OF_RANGE:
    return PyExc_IndexError;
  case TD_VALUE:
    return PyExc_ValueError;
  case TD_OUT_OF_MEMORY:
    return PyExc_MemoryError;
  case TD_IO:
    return PyExc_OSError;
  case TD_UNSUPPORTED:
    return PyExc_NotImplementedError;
  case TD_ASSERTION:
    return PyExc_AssertionError;
  default:
    return PyExc_RuntimeError;
  }
}

/* Restores the exception with its traceback, so that it shows the user's own line. */
static void
raise_foreign(td_error *error) {
  PyObject *exception = error->foreign;
  PyErr_Restore(Py_NewRef(Py_TYPE(exception)), Py_NewRef(exception),
                PyException_GetTraceback(exception));
}

/* A node that could not save something is not whole, and the program does not get it. */
static void
call_creation_hooks(void) {
  td_error error = {0};
  if (td_pending()) return td_creation_forget();
  td_status status = td_creation_call(&error);
  if (status) td_pending_set(status, &error);
}

int
tdpy_check(td_status status, td_error *error) {
  if (TD_UNLIKELY(td_creation_waits)) call_creation_hooks();
  if (td_pending()) { /* what failed first */
    td_error_clear(error);
    status = td_pending_take(error);
  }
  if (status == TD_OK) return 1;
  if (error->foreign)
    raise_foreign(error);
  else
    PyErr_SetString(exception_for(status),
                    error->message ? error->message : td_status_message(status));
  td_error_clear(error);
  return 0;
}

PyObject *
tdpy_none(td_status status, td_error *error) {
  if (!tdpy_check(status, error)) return NULL;
  Py_RETURN_NONE;
}

static void
free_foreign(void *exception) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF((PyObject *)exception);
  PyGILState_Release(gil);
}

static void
set_message(td_error *error, PyObject *exception) {
  PyObject *text = PyObject_Str(exception);
  const char *words = text ? PyUnicode_AsUTF8(text) : NULL;
  if (!words) PyErr_Clear();
  td_error_set(error, TD_FOREIGN, "%s: %s", Py_TYPE(exception)->tp_name, words ? words : "?");
  Py_XDECREF(text);
}

td_status
tdpy_fetch(td_error *error) {
  PyObject *type, *exception, *traceback;
  PyErr_Fetch(&type, &exception, &traceback);
  PyErr_NormalizeException(&type, &exception, &traceback);
  if (traceback) PyException_SetTraceback(exception, traceback);
  set_message(error, exception);
  error->foreign = exception;
  error->foreign_free = free_foreign;
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return TD_FOREIGN;
}
