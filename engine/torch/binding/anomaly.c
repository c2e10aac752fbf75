/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Anomaly mode, and the metadata of nodes. The metadata is a dict for each node. The mode keeps
 * two things there: `traceback_`, the lines of the forward call's stack, and `parent_`, the node
 * that ran then. Engine threads take the GIL for it. */
#include "engine/torch/binding/anomaly.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/metadata.h"
#include "engine/torch/graph/warnings.h"

#define TRACEBACK "traceback_"
#define PARENT "parent_"

typedef struct metadata {
  PyObject *dict;   /* (owned reference) */
  PyObject *frames; /* (owned reference) the stack of traceback.extract_stack, or NULL */
} metadata;

static void *
metadata_make(void) {
  metadata *self = TD_NEW(metadata);
  PyGILState_STATE gil = PyGILState_Ensure();
  self->dict = PyDict_New();
  PyGILState_Release(gil);
  return self;
}

static void
metadata_free(void *data) {
  metadata *self = data;
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_XDECREF(self->dict);
    Py_XDECREF(self->frames);
    PyGILState_Release(gil);
  }
  free(self);
}

/* An error while the mode makes a note must not end the program's operation. */
static void
report(PyObject *where) {
  if (PyErr_Occurred()) PyErr_WriteUnraisable(where);
}

static void
store_stack(void *data) {
  metadata *self = data;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *module = PyImport_ImportModule("torch.autograd.anomaly_mode");
  PyObject *frames = module ? PyObject_CallMethod(module, "forward_stack", NULL) : NULL;
  PyObject *lines = frames ? PyObject_CallMethod(frames, "format", NULL) : NULL;
  if (lines) PyDict_SetItemString(self->dict, TRACEBACK, lines);
  report(module);
  Py_XSETREF(self->frames, frames);
  Py_XDECREF(lines);
  Py_XDECREF(module);
  PyGILState_Release(gil);
}

static char *
stack_text(void *data) {
  metadata *self = data;
  if (!self->frames) return NULL;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *module = PyImport_ImportModule("torch.autograd.anomaly_mode");
  PyObject *text = module ? PyObject_CallMethod(module, "stack_text", "O", self->frames) : NULL;
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  char *copy = utf8 ? td_dup_string(utf8) : NULL;
  report(module);
  Py_XDECREF(text);
  Py_XDECREF(module);
  PyGILState_Release(gil);
  return copy;
}

static void
set_parent(void *data, td_node *parent) {
  metadata *self = data;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *object = tdpy_node_wrap(parent);
  if (object) PyDict_SetItemString(self->dict, PARENT, object);
  report(object);
  Py_XDECREF(object);
  PyGILState_Release(gil);
}

/* The lines of a stack (owned), or NULL if there is none. Users may have replaced them. */
static char *
joined_lines(PyObject *dict) {
  PyObject *lines = PyDict_Check(dict) ? PyDict_GetItemString(dict, TRACEBACK) : NULL;
  PyObject *empty = lines ? PyUnicode_FromString("") : NULL;
  PyObject *text = empty ? PyUnicode_Join(empty, lines) : NULL;
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  char *copy = utf8 ? td_dup_string(utf8) : NULL;
  report(lines);
  Py_XDECREF(text);
  Py_XDECREF(empty);
  return copy;
}

static void
print_stack(td_node *failed, PyObject *dict, const char *name, bool is_parent) {
  char *lines = joined_lines(dict), *text;
  if (!lines)
    text = td_format("Error detected in %s. No forward pass information available. Enable detect "
                     "anomaly during forward pass for more information.",
                     name);
  else if (is_parent)
    text = td_format("\n\nPrevious calculation was induced by %s. Traceback of forward call that "
                     "induced the previous calculation:\n%s",
                     name, lines);
  else
    text = td_format("Error detected in %s. Traceback of forward call that caused the error:\n%s",
                     name, lines);
  td_warn(failed, text);
  free(text);
  free(lines);
}

static void
print_stacks(void *data, td_node *node) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *dict = ((metadata *)data)->dict;
  print_stack(node, dict, td_node_name(node), false);
  PyObject *parent = PyDict_GetItemString(dict, PARENT);
  while (parent && PyObject_TypeCheck(parent, &tdpy_node_type)) {
    td_node *induced_by = ((tdpy_node *)parent)->node;
    dict = ((metadata *)td_node_metadata(induced_by))->dict;
    print_stack(node, dict, td_node_name(induced_by), true);
    parent = PyDict_GetItemString(dict, PARENT);
  }
  PyGILState_Release(gil);
}

static const td_metadata_class metadata_class = {
    .make = metadata_make,
    .free = metadata_free,
    .store_stack = store_stack,
    .stack_text = stack_text,
    .set_parent = set_parent,
    .print_stacks = print_stacks,
};

PyObject *
tdpy_node_metadata(PyObject *self, void *closure) {
  metadata *data = td_node_metadata(((tdpy_node *)self)->node);
  return Py_NewRef(data->dict);
}

static PyObject *
is_anomaly_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_anomaly_mode());
}

static PyObject *
is_anomaly_check_nan_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_anomaly_mode_checks_nan());
}

static PyObject *
set_anomaly_enabled(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"enabled", "check_nan", NULL};
  int enabled, check_nan = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "p|p:set_anomaly_enabled", names, &enabled,
                                   &check_nan))
    return NULL;
  td_anomaly_mode_set(enabled, check_nan);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS,
     "Whether nodes remember where they were made."},
    {"is_anomaly_check_nan_enabled", is_anomaly_check_nan_enabled, METH_NOARGS,
     "Whether anomaly mode ends a backward pass at a NaN."},
    {"set_anomaly_enabled", (PyCFunction)(void (*)(void))set_anomaly_enabled,
     METH_VARARGS | METH_KEYWORDS, "Switches anomaly mode, for the whole process."},
    {NULL}};

int
tdpy_anomaly_add(PyObject *module) {
  td_metadata_set_class(&metadata_class);
  return PyModule_AddFunctions(module, functions);
}
