/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck run` needs of the process: devices, checks, recording; and marks on the tape. */
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/module.h"
#include "engine/python/tensor_object.h"

#include "engine/autograd/engine.h"
#include "engine/autograd/variable.h"
#include "engine/device/device.h"
#include "engine/trace/recorder.h"

#include <string.h>

static td_recorder *recorder; /* (owned) the one of this process, or NULL */
static uint32_t n_steps;

static PyObject *
set_devices(PyObject *self, PyObject *specification) {
  const char *text = PyUnicode_AsUTF8(specification);
  td_error error = {0};
  return text ? tdpy_none(td_device_setup(text, &error), &error) : NULL;
}

static PyObject *
set_checks(PyObject *self, PyObject *word) {
  static const char *const words[] = {
      [TD_ANOMALY_OFF] = "off", [TD_ANOMALY_NAN] = "nan", [TD_ANOMALY_NONFINITE] = "nonfinite"};
  const char *text = PyUnicode_AsUTF8(word);
  if (!text) return NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(text, words[i]) != 0) continue;
    td_engine_options options = td_engine_get_options(td_engine_default());
    options.anomaly = (td_anomaly_mode)i;
    td_engine_set_options(td_engine_default(), options);
    Py_RETURN_NONE;
  }
  return PyErr_Format(PyExc_ValueError, "anomaly is off, nan or nonfinite, not '%s'", text);
}

/* record_begin(path, overwrite, source, drop) */
static PyObject *
record_begin(PyObject *self, PyObject *args) {
  PyObject *path, *source;
  int overwrite, drop;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&pO&p:record_begin", PyUnicode_FSConverter, &path, &overwrite,
                        PyUnicode_FSConverter, &source, &drop))
    return NULL;
  td_recorder_options options = {.engine = "tapedeck",
                                 .version = TD_VERSION,
                                 .source = PyBytes_AS_STRING(source),
                                 .policy = drop ? TD_RING_DROP : TD_RING_BLOCK};
  td_status status =
      recorder ? td_error_set(&error, TD_INVALID, "this process is being recorded already")
               : td_recorder_start(PyBytes_AS_STRING(path), overwrite, &options, &recorder, &error);
  Py_DECREF(path);
  Py_DECREF(source);
  if (!status) td_emit_name_thread("main", TD_CPU);
  return tdpy_none(status, &error);
}

/* The recorder's thread may have to empty rings of threads that wait for the GIL: let them. */
static PyObject *
record_end(PyObject *self, PyObject *exit_status) {
  long code = PyLong_AsLong(exit_status);
  td_error error = {0};
  td_status status = TD_OK;
  td_recorder *ending = recorder;
  if (code == -1 && PyErr_Occurred()) return NULL;
  recorder = NULL;
  Py_BEGIN_ALLOW_THREADS if (ending) status = td_recorder_stop(ending, (int)code, &error);
  Py_END_ALLOW_THREADS return tdpy_none(status, &error);
}

/* For the child of a fork: the tape is the parent's. */
static PyObject *
record_abandon(PyObject *self, PyObject *unused) {
  if (recorder) td_recorder_abandon(recorder);
  recorder = NULL;
  Py_RETURN_NONE;
}

static PyObject *
mark(PyObject *self, PyObject *text) {
  if (!PyUnicode_Check(text))
    return PyErr_Format(PyExc_TypeError, "mark() takes a str, not %s", Py_TYPE(text)->tp_name);
  Py_ssize_t length;
  const char *words = PyUnicode_AsUTF8AndSize(text, &length);
  if (!words) return NULL;
  if (strlen(words) != (size_t)length)
    return PyErr_Format(PyExc_ValueError, "mark(): embedded null character");
  TD_EMIT(mark, .text = td_intern(words));
  Py_RETURN_NONE;
}

static PyObject *
step(PyObject *self, PyObject *unused) {
  TD_EMIT(step, .iteration = n_steps);
  n_steps++;
  Py_RETURN_NONE;
}

static PyObject *
set_name(PyObject *self, PyObject *args) {
  td_tensor *tensor;
  const char *name;
  if (!PyArg_ParseTuple(args, "O&s:set_name", tdpy_tensor_converter, &tensor, &name)) return NULL;
  td_tensor_set_name(tensor, name);
  Py_RETURN_NONE;
}

static PyObject *
device_count(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(td_device_count());
}

PyMethodDef tdpy_session_functions[] = {
    {"set_devices", set_devices, METH_O, NULL},
    {"set_checks", set_checks, METH_O, NULL},
    {"record_begin", record_begin, METH_VARARGS, NULL},
    {"record_end", record_end, METH_O, NULL},
    {"record_abandon", record_abandon, METH_NOARGS, NULL},
    {"mark", mark, METH_O, "Leaves a mark with a text on the tape; nothing where nothing records."},
    {"step", step, METH_NOARGS,
     "Counts a training step on the tape; nothing where nothing records."},
    {"set_name", set_name, METH_VARARGS, NULL},
    {"device_count", device_count, METH_NOARGS, "The number of simulated accelerators."},
    {NULL}};
