/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/cast_methods.h"
#include "engine/ops/shape.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/tensor_object.h"
#include "engine/python/types.h"

static PyObject *
to_dtype(PyObject *self, td_dtype dtype) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_to_dtype(tdpy_tensor_of(self), dtype, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_float(PyObject *self, PyObject *unused) {
  return to_dtype(self, TD_FLOAT32);
}

PyObject *
tdpy_method_double(PyObject *self, PyObject *unused) {
  return to_dtype(self, TD_FLOAT64);
}

PyObject *
tdpy_method_long(PyObject *self, PyObject *unused) {
  return to_dtype(self, TD_INT64);
}

PyObject *
tdpy_method_bool(PyObject *self, PyObject *unused) {
  return to_dtype(self, TD_BOOL);
}

static int
to_target(PyObject *target, td_dtype *dtype, td_device *device) {
  if (tdpy_tensor_is(target)) {
    *dtype = tdpy_tensor_of(target)->dtype;
    *device = tdpy_tensor_of(target)->device;
    return 1;
  }
  return Py_IS_TYPE(target, &tdpy_dtype_type) ? tdpy_dtype_converter(target, dtype)
                                              : tdpy_device_converter(target, device);
}

PyObject *
tdpy_method_to(PyObject *self, PyObject *args, PyObject *kwargs) {
  td_tensor *tensor = tdpy_tensor_of(self), *out = NULL;
  tdpy_options options = {.dtype = tensor->dtype, .device = tensor->device};
  td_error error = {0};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
    if (!to_target(PyTuple_GET_ITEM(args, i), &options.dtype, &options.device)) return NULL;
  if (!tdpy_options_read("to", kwargs, &options)) return NULL;
  td_status status = td_op_to(tensor, options.dtype, options.device, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_cpu(PyObject *self, PyObject *unused) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_to_device(tdpy_tensor_of(self), TD_CPU, &out, &error);
  return tdpy_result(status, out, &error);
}
