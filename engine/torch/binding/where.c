/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/binding/where.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/version.h"

static PyObject
    *own_folder; /* (owned reference) the folder of this package, with a slash at its end */

/* Frames of this package, such as an optimizer's, are not the program's. Python makes the paths
 * of the package's files from the path of its folder. So links need not be resolved. */
static bool
is_ours(PyObject *file) {
  return PyUnicode_Tailmatch(file, own_folder, 0, PY_SSIZE_T_MAX, -1) == 1;
}

/* "train.py:12", interned. */
static uint32_t
place_of(PyFrameObject *frame) {
  uint32_t place = 0;
  PyCodeObject *code = PyFrame_GetCode(frame);
  const char *file = is_ours(code->co_filename) ? NULL : PyUnicode_AsUTF8(code->co_filename);
  if (file) {
    char *text = td_format("%s:%d", file, PyFrame_GetLineNumber(frame));
    place = td_intern(text);
    free(text);
  }
  PyErr_Clear();
  Py_DECREF(code);
  return place;
}

/* The place, or 0 on threads of the engine, which do not hold the GIL. */
static uint32_t
where(void) {
  if (!PyGILState_Check()) return 0;
  PyFrameObject *frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  uint32_t place = 0;
  while (frame && !place) {
    place = place_of(frame);
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return place;
}

/* The package is in sys.modules before its extension module is loaded. */
static PyObject *
find_own_folder(void) {
  PyObject *package = PyImport_ImportModule("torch");
  PyObject *folders = package ? PyObject_GetAttrString(package, "__path__") : NULL;
  PyObject *folder = folders ? PySequence_GetItem(folders, 0) : NULL;
  PyObject *with_slash = folder ? PyUnicode_FromFormat("%U/", folder) : NULL;
  Py_XDECREF(folder);
  Py_XDECREF(folders);
  Py_XDECREF(package);
  return with_slash;
}

int
tdpy_where_add(void) {
  own_folder = find_own_folder();
  if (!own_folder) return -1;
  td_version_set_stack(where);
  return 0;
}
