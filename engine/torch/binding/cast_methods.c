/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/cast_methods.h"
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/shape/shape.h"

static PyObject *
to_dtype(PyObject *self, td_dtype dtype) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_to_dtype(tdpy_tensor_of(self), dtype, &out, &error);
  return tdpy_result(status, out, &error);
}

#define X(name, dtype)                                                                             \
  PyObject *tdpy_method_##name(PyObject *self, PyObject *unused) {                                 \
    return to_dtype(self, TD_##dtype);                                                             \
  }
TDPY_CASTS(X)
#undef X

static int
to_target(PyObject *target, td_dtype *dtype, td_device *device) {
  if (tdpy_tensor_is(target)) {
    *dtype = tdpy_tensor_of(target)->dtype;
    *device = tdpy_tensor_of(target)->device;
    return 1;
  }
  return Py_IS_TYPE(target, &tdpy_dtype_type) || PyType_Check(target)
             ? tdpy_dtype_converter(target, dtype)
             : tdpy_device_converter(target, device);
}

/* to(target..., non_blocking, copy): flags stand last. */
static int
read_targets(PyObject *args, tdpy_options *options, int *copy) {
  int n_flags = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    if (PyBool_Check(item) && n_flags++)
      *copy = item == Py_True;
    else if (!PyBool_Check(item) && !to_target(item, &options->dtype, &options->device))
      return 0;
  }
  return 1;
}

/* The keywords but copy=, a new reference. */
static PyObject *
without_copy(PyObject *kwargs, int *copy) {
  PyObject *wanted = PyDict_GetItemString(kwargs, "copy");
  if (!wanted) return Py_NewRef(kwargs);
  PyObject *left = PyDict_Copy(kwargs);
  if (!left) return NULL;
  *copy = PyObject_IsTrue(wanted);
  PyDict_DelItemString(left, "copy");
  return left;
}

static td_status
cast(td_tensor *tensor, const tdpy_options *options, td_memory_format format, bool copy,
     td_tensor **out, td_error *error) {
  TD_LOCAL(moved);
  TD_LOCAL(kept);
  TD_TRY(td_op_to(tensor, options->dtype, options->device, &moved, error));
  TD_TRY(td_op_to_format(moved, format, &kept, error));
  if (copy && kept == tensor) return td_op_clone_in(kept, format, out, error);
  *out = TD_TAKE(kept);
  return TD_OK;
}

PyObject *
tdpy_method_to(PyObject *self, PyObject *args, PyObject *kwargs) {
  td_tensor *tensor = tdpy_tensor_of(self), *out = NULL;
  tdpy_options options = {.dtype = tensor->dtype, .device = tensor->device};
  td_error error = {0};
  int copy = false;
  if (!read_targets(args, &options, &copy)) return NULL;
  PyObject *wanted = kwargs ? PyDict_GetItemString(kwargs, "memory_format") : NULL;
  td_memory_format format = TD_FORMAT_PRESERVE;
  if (wanted && wanted != Py_None && !tdpy_format_converter(wanted, &format)) return NULL;
  PyObject *left = kwargs ? without_copy(kwargs, &copy) : NULL;
  int fine = (left || !kwargs) && tdpy_options_read("to", left, &options);
  Py_XDECREF(left);
  if (!fine) return NULL;
  td_status status = cast(tensor, &options, format, copy, &out, &error);
  return tdpy_result(status, out, &error);
}

PyObject *
tdpy_method_cpu(PyObject *self, PyObject *unused) {
  td_error error = {0};
  td_tensor *out = NULL;
  td_status status = td_op_to_device(tdpy_tensor_of(self), TD_CPU, &out, &error);
  return tdpy_result(status, out, &error);
}
