/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/python/where.h"

#include "engine/base/alloc.h"
#include "engine/graph/version.h"

#include <string.h>

/* Frames of this package, of an optimizer for one, are not where the program is. */
static bool
is_ours(const char *file) {
  return strstr(file, "/tapedeck/") != NULL;
}

/* "train.py:12", interned. */
static uint32_t
place_of(PyFrameObject *frame) {
  uint32_t place = 0;
  PyCodeObject *code = PyFrame_GetCode(frame);
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  if (!file)
    PyErr_Clear();
  else if (!is_ours(file)) {
    char *text = td_format("%s:%d", file, PyFrame_GetLineNumber(frame));
    place = td_intern(text);
    free(text);
  }
  Py_DECREF(code);
  return place;
}

/* 0 on threads of the engine, which do not hold the GIL. */
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

void
tdpy_where_add(void) {
  td_version_set_stack(where);
}
