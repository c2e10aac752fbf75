/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/stream.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/device/memory.h"

#include "engine/torch/device/device.h"
#include "engine/torch/device/kernel.h"
#include "engine/torch/device/sim.h"
#include "engine/torch/device/stream.h"
#include "engine/torch/pass/arrival.h"
#include "engine/torch/tensor/launch.h"

static const char event_name[] = "torch.stream_event";

int
tdpy_warn_of_conflicts(void) {
  int fine = 1;
  char *text;
  while (fine && (text = td_conflict_take())) {
    fine = PyErr_WarnEx(PyExc_UserWarning, text, 1) == 0;
    free(text);
  }
  return fine;
}

int
tdpy_tensor_read(const td_tensor *tensor) {
  if (tensor->device < 0) return 1;
  TD_LAUNCH("to_host", 0, tensor);
  Py_BEGIN_ALLOW_THREADS td_stream_synchronize(td_stream_current(tensor->device));
  Py_END_ALLOW_THREADS return tdpy_warn_of_conflicts();
}

static int
device_converter(PyObject *object, void *out) {
  long index = PyLong_AsLong(object);
  if (index == -1 && PyErr_Occurred()) return 0;
  if (index < 0 || index >= td_device_count()) {
    PyErr_Format(PyExc_RuntimeError, "there is no accelerator %ld: there are %d", index,
                 td_device_count());
    return 0;
  }
  *(td_device *)out = (td_device)index;
  return 1;
}

static int
stream_arguments(PyObject *args, td_stream *stream) {
  if (!PyArg_ParseTuple(args, "O&i", device_converter, &stream->device, &stream->number)) return 0;
  if (stream->number >= 0 && stream->number < td_stream_count(stream->device)) return 1;
  PyErr_Format(PyExc_RuntimeError, "there is no stream %d on device %d", stream->number,
               stream->device);
  return 0;
}

static PyObject *
finish(void) {
  return tdpy_warn_of_conflicts() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
stream_new(PyObject *self, PyObject *args) {
  td_device device;
  if (!PyArg_ParseTuple(args, "O&", device_converter, &device)) return NULL;
  return PyLong_FromLong(td_stream_new(device).number);
}

static PyObject *
stream_current(PyObject *self, PyObject *args) {
  td_device device;
  if (!PyArg_ParseTuple(args, "O&", device_converter, &device)) return NULL;
  return PyLong_FromLong(td_stream_current(device).number);
}

static PyObject *
stream_set_current(PyObject *self, PyObject *args) {
  td_stream stream;
  if (!stream_arguments(args, &stream)) return NULL;
  td_stream_set_current(stream);
  return finish();
}

static PyObject *
stream_query(PyObject *self, PyObject *args) {
  td_stream stream;
  return stream_arguments(args, &stream) ? PyBool_FromLong(td_stream_is_done(stream)) : NULL;
}

static PyObject *
stream_synchronize(PyObject *self, PyObject *args) {
  td_stream stream;
  if (!stream_arguments(args, &stream)) return NULL;
  Py_BEGIN_ALLOW_THREADS td_stream_synchronize(stream);
  Py_END_ALLOW_THREADS return finish();
}

static PyObject *
device_synchronize(PyObject *self, PyObject *args) {
  td_device device;
  if (!PyArg_ParseTuple(args, "O&", device_converter, &device)) return NULL;
  Py_BEGIN_ALLOW_THREADS td_device_synchronize(device);
  Py_END_ALLOW_THREADS return finish();
}

static PyObject *
device_current(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(td_device_current());
}

static PyObject *
device_set_current(PyObject *self, PyObject *args) {
  td_device device;
  if (!PyArg_ParseTuple(args, "O&", device_converter, &device)) return NULL;
  td_device_set_current(device);
  Py_RETURN_NONE;
}

static void
free_event(PyObject *capsule) {
  td_stream_event_unref(PyCapsule_GetPointer(capsule, event_name));
}

/* event_record(device, stream): a new event on it. */
static PyObject *
event_record(PyObject *self, PyObject *args) {
  td_stream stream;
  if (!stream_arguments(args, &stream)) return NULL;
  return PyCapsule_New(td_stream_event_record(stream, TD_NONE), event_name, free_event);
}

static int
event_converter(PyObject *object, void *out) {
  *(td_stream_event **)out = PyCapsule_GetPointer(object, event_name);
  return *(td_stream_event **)out != NULL;
}

/* stream_wait(event, device, stream) */
static PyObject *
stream_wait(PyObject *self, PyObject *args) {
  td_stream_event *event;
  td_stream stream;
  if (!PyArg_ParseTuple(args, "O&O&i:stream_wait", event_converter, &event, device_converter,
                        &stream.device, &stream.number))
    return NULL;
  td_stream_wait(stream, event, TD_NONE);
  Py_RETURN_NONE;
}

static PyObject *
event_query(PyObject *self, PyObject *capsule) {
  td_stream_event *event;
  return event_converter(capsule, &event) ? PyBool_FromLong(td_stream_event_is_done(event)) : NULL;
}

static PyObject *
event_synchronize(PyObject *self, PyObject *capsule) {
  td_stream_event *event;
  if (!event_converter(capsule, &event)) return NULL;
  Py_BEGIN_ALLOW_THREADS td_stream_event_synchronize(event);
  Py_END_ALLOW_THREADS return finish();
}

static PyObject *
event_elapsed_ms(PyObject *self, PyObject *args) {
  td_stream_event *from, *to;
  if (!PyArg_ParseTuple(args, "O&O&:event_elapsed_ms", event_converter, &from, event_converter,
                        &to))
    return NULL;
  return PyFloat_FromDouble(td_stream_event_elapsed_ms(from, to));
}

static int
attribute_of(PyObject *object, const char *name, int32_t *out) {
  PyObject *number = PyObject_GetAttrString(object, name);
  long value = number ? PyLong_AsLong(number) : -1;
  Py_XDECREF(number);
  *out = (int32_t)value;
  return !PyErr_Occurred();
}

PyObject *
tdpy_method_record_stream(PyObject *self, PyObject *object) {
  td_stream stream;
  if (!attribute_of(object, "device_index", &stream.device) ||
      !attribute_of(object, "stream_id", &stream.number))
    return NULL;
  td_tensor_record_stream(tdpy_tensor_of(self), stream);
  Py_RETURN_NONE;
}

static PyObject *
device_number(PyObject *self, PyObject *object) {
  td_device device;
  return tdpy_device_converter(object, &device) ? PyLong_FromLong(device) : NULL;
}

static PyObject *
device_name(PyObject *self, PyObject *args) {
  td_device device;
  if (!PyArg_ParseTuple(args, "O&", device_converter, &device)) return NULL;
  return PyUnicode_FromString(td_device_name(device));
}

static PyObject *
warn_of_leaves(PyObject *self, PyObject *enabled) {
  int wanted = PyObject_IsTrue(enabled);
  if (wanted < 0) return NULL;
  td_arrival_warn_of_leaves(wanted);
  Py_RETURN_NONE;
}

static PyObject *
now_ns(PyObject *self, PyObject *unused) {
  return PyLong_FromUnsignedLongLong(td_sim_now());
}

static PyObject *
is_virtual(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_sim_is_virtual);
}

static PyObject *
warn_of_conflicts(PyObject *self, PyObject *unused) {
  return finish();
}

PyMethodDef tdpy_stream_functions[] = {
    {"stream_new", stream_new, METH_VARARGS, NULL},
    {"stream_current", stream_current, METH_VARARGS, NULL},
    {"stream_set_current", stream_set_current, METH_VARARGS, NULL},
    {"stream_query", stream_query, METH_VARARGS, NULL},
    {"stream_synchronize", stream_synchronize, METH_VARARGS, NULL},
    {"stream_wait", stream_wait, METH_VARARGS, NULL},
    {"device_current", device_current, METH_NOARGS, NULL},
    {"device_set_current", device_set_current, METH_VARARGS, NULL},
    {"device_synchronize", device_synchronize, METH_VARARGS, NULL},
    {"event_record", event_record, METH_VARARGS, NULL},
    {"event_query", event_query, METH_O, NULL},
    {"event_synchronize", event_synchronize, METH_O, NULL},
    {"event_elapsed_ms", event_elapsed_ms, METH_VARARGS, NULL},
    {"device_number", device_number, METH_O, NULL},
    {"device_name", device_name, METH_VARARGS, NULL},
    {"set_warn_on_accumulate_grad_stream_mismatch", warn_of_leaves, METH_O, NULL},
    {"sim_now_ns", now_ns, METH_NOARGS, NULL},
    {"sim_is_virtual", is_virtual, METH_NOARGS, NULL},
    {"warn_of_conflicts", warn_of_conflicts, METH_NOARGS, NULL},
    {NULL},
};
