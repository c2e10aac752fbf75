/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/tensor_object.h"

#include "engine/torch/binding/errors.h"
#include "engine/torch/graph/views.h"

#include <stddef.h>

PyObject *
tdpy_tensor_new(PyTypeObject *type, td_tensor *tensor) {
  tdpy_tensor *self = (tdpy_tensor *)type->tp_alloc(type, 0);
  if (!self) {
    td_tensor_unref(tensor);
    return NULL;
  }
  self->tensor = tensor;
  tensor->wrapper = self;
  return (PyObject *)self;
}

PyObject *
tdpy_tensor_wrap(td_tensor *tensor) {
  if (!tensor) Py_RETURN_NONE;
  if (!tensor->wrapper) return tdpy_tensor_new(&tdpy_tensor_type, tensor);
  PyObject *self = Py_NewRef((PyObject *)tensor->wrapper);
  td_tensor_unref(tensor);
  return self;
}

PyObject *
tdpy_result(td_status status, td_tensor *tensor, td_error *error) {
  bool returned = status == TD_OK; /* a tensor may be there although an error is pending */
  if (tdpy_check(status, error)) return tdpy_tensor_wrap(tensor);
  if (returned) td_tensor_unref(tensor);
  return NULL;
}

PyObject *
tdpy_tensors_wrap(td_tensor *const *tensors, uint32_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (uint32_t i = 0; tuple && i < n; i++) {
    PyObject *item = tdpy_tensor_wrap(td_tensor_ref(tensors[i]));
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

bool
tdpy_tensor_has_history(PyObject *self) {
  td_tensor *tensor = tdpy_tensor_of(self);
  td_error error = {0};
  return !tensor->base || td_view_is_fresh(tensor) ||
         tdpy_check(td_view_refresh(tensor, &error), &error);
}

static void
tensor_dealloc(PyObject *self) {
  tdpy_tensor *object = (tdpy_tensor *)self;
  PyObject_GC_UnTrack(self);
  if (object->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->dict);
  if (object->tensor) {
    object->tensor->wrapper = NULL;
    td_tensor_unref(object->tensor);
  }
  Py_TYPE(self)->tp_free(self);
}

PyTypeObject tdpy_tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.Tensor",
    .tp_basicsize = sizeof(tdpy_tensor),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_dictoffset = offsetof(tdpy_tensor, dict),
    .tp_weaklistoffset = offsetof(tdpy_tensor, weakrefs),
    .tp_dealloc = tensor_dealloc,
};
