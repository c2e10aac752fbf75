/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Modes of autograd as Python sees them. */
#include "engine/torch/binding/edge.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/graph/inference.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/engine.h"

#include <string.h>

static PyObject *
is_grad_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_grad_mode());
}

static PyObject *
set_grad_mode(PyObject *self, PyObject *value) {
  int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return NULL;
  td_grad_mode_set(enabled);
  Py_RETURN_NONE;
}

static PyObject *
is_inference_mode_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_inference_mode());
}

static PyObject *
set_inference_mode(PyObject *self, PyObject *value) {
  int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return NULL;
  td_inference_mode_enter(enabled);
  Py_RETURN_NONE;
}

static PyObject *
increment_version(PyObject *self, PyObject *tensor) {
  if (!tdpy_tensor_is(tensor))
    return PyErr_Format(PyExc_TypeError, "expected a Tensor, not %s", Py_TYPE(tensor)->tp_name);
  td_tensor_bump(tdpy_tensor_of(tensor), "increment_version");
  Py_RETURN_NONE;
}

static PyObject *
is_warn_always_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_warnings_always());
}

static PyObject *
set_warn_always(PyObject *self, PyObject *value) {
  if (!PyBool_Check(value))
    return PyErr_Format(PyExc_TypeError, "setWarnOnlyOnce expects a bool, but got %s",
                        Py_TYPE(value)->tp_name);
  td_warnings_set_always(value == Py_True);
  Py_RETURN_NONE;
}

/* policy(name): whether the engine behaves like the newest PyTorch in the matter that
 * semantics.def calls so. */
static PyObject *
policy(PyObject *self, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
#define TD_POLICY(policy, since, summary)                                                          \
  if (strcmp(text, #policy) == 0) return PyBool_FromLong(td_policy(policy));
#include "engine/torch/graph/semantics.def"
#undef TD_POLICY
  return PyErr_Format(PyExc_ValueError, "there is no policy %s", text);
}

PyMethodDef tdpy_autograd_functions[] = {
    {"run_backward", (PyCFunction)(void (*)(void))tdpy_run_backward, METH_VARARGS | METH_KEYWORDS,
     NULL},
    {"gradient_edge", tdpy_gradient_edge, METH_O,
     "(node, input_nr) that a tensor's gradient goes to."},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether operations are remembered."},
    {"set_grad_mode", set_grad_mode, METH_O, NULL},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     "Whether what is made never has a history."},
    {"set_inference_mode", set_inference_mode, METH_O, NULL},
    {"increment_version", increment_version, METH_O, NULL},
    {"is_warn_always_enabled", is_warn_always_enabled, METH_NOARGS, NULL},
    {"set_warn_always", set_warn_always, METH_O,
     "Whether warnings that come once in the life of a process come each time."},
    {"policy", policy, METH_O, NULL},
    {NULL}};
