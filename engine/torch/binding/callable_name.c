/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/callable_name.h"

#include "engine/base/alloc.h"

#include <stdbool.h>
#include <string.h>

#define LAYERS_MAX 8 /* of wrappers around a function */

/* A new reference, or NULL without an exception. */
static PyObject *
get(PyObject *object, const char *name) {
  PyObject *value = object ? PyObject_GetAttrString(object, name) : NULL;
  if (!value) PyErr_Clear();
  return value;
}

static char *
get_text(PyObject *object, const char *name) {
  PyObject *value = get(object, name);
  const char *text = value && PyUnicode_CheckExact(value) ? PyUnicode_AsUTF8(value) : NULL;
  char *copy = text ? td_dup_string(text) : NULL;
  if (!text) PyErr_Clear();
  Py_XDECREF(value);
  return copy;
}

/* The last part of a path. A package's file has the package before it. */
static const char *
last_of_path(const char *path) {
  size_t at = strlen(path);
  while (at > 0 && path[at - 1] != '/')
    at--;
  if (at == 0 || strncmp(path + at, "__", 2) != 0) return path + at;
  for (at--; at > 0 && path[at - 1] != '/';)
    at--;
  return path + at;
}

/* "name (file:line)". Takes the name. */
static char *
add_place(char *name, PyObject *function) {
  const PyCodeObject *code = (const PyCodeObject *)PyFunction_GET_CODE(function);
  const char *path = PyUnicode_AsUTF8(code->co_filename);
  if (!path) PyErr_Clear();
  char *whole = td_format("%s (%s:%d)", name ? name : "?", path ? last_of_path(path) : "?",
                          code->co_firstlineno);
  free(name);
  return whole;
}

/* "module.name" of what C has made. */
static char *
name_in_module(PyObject *object) {
  char *module = get_text(object, "__module__"), *name = get_text(object, "__qualname__");
  char *whole =
      module ? td_format("%s.%s", module, name ? name : "?") : td_dup_string(name ? name : "?");
  free(module);
  free(name);
  return whole;
}

static char *
name_of_class(PyTypeObject *type) {
  PyObject *call = get((PyObject *)type, "__call__");
  char *name = get_text((PyObject *)type, "__qualname__");
  char *method = td_format("%s.__call__", name ? name : "?");
  bool is_python = call && PyFunction_Check(call);
  char *whole = is_python ? add_place(method, call) : name_in_module((PyObject *)type);
  if (!is_python) free(method);
  free(name);
  Py_XDECREF(call);
  return whole;
}

static bool
is_builtin(PyObject *callable) {
  return PyCFunction_Check(callable) || Py_IS_TYPE(callable, &PyMethodDescr_Type) ||
         Py_IS_TYPE(callable, &PyWrapperDescr_Type) || Py_IS_TYPE(callable, &PyType_Type);
}

static bool
is_partial(PyObject *callable) {
  static PyObject *partial; /* guarded by the GIL */
  if (!partial)
    partial = get(PyDict_GetItemString(PyImport_GetModuleDict(), "functools"), "partial");
  return (PyObject *)Py_TYPE(callable) == partial;
}

/* What a wrapper goes by, a new reference; or NULL. */
static PyObject *
inside(PyObject *callable) {
  if (PyMethod_Check(callable)) return Py_NewRef(PyMethod_GET_FUNCTION(callable));
  if (PyFunction_Check(callable)) return get(callable, "__wrapped__");
  return is_partial(callable) ? get(callable, "func") : NULL;
}

char *
tdpy_callable_name(PyObject *callable) {
  PyObject *innermost = Py_NewRef(callable), *next;
  for (int i = 0; i < LAYERS_MAX && (next = inside(innermost)) != NULL; i++)
    Py_SETREF(innermost, next);
  char *name = PyFunction_Check(innermost)
                   ? add_place(get_text(innermost, "__qualname__"), innermost)
               : is_builtin(innermost) ? name_in_module(innermost)
                                       : name_of_class(Py_TYPE(innermost));
  Py_DECREF(innermost);
  return name;
}
