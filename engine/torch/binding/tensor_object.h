/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * torch.Tensor: a Python object that holds a reference to a td_tensor. The td_tensor points back
 * at its object (wrapper). So a tensor has one object for as long as Python holds it. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/tensor/tensor.h"

typedef struct tdpy_tensor {
  PyObject_HEAD td_tensor *tensor; /* (owned reference) */
  PyObject *dict;                  /* (owned) attributes that users set, or NULL */
  PyObject *weakrefs;
} tdpy_tensor;

/* The type; tensor_type.c adds its methods and readies it. */
extern PyTypeObject tdpy_tensor_type;

static inline int
tdpy_tensor_is(PyObject *object) {
  return PyObject_TypeCheck(object, &tdpy_tensor_type);
}

/* tdpy_tensor_has_history tells whether a tensor's history is known. If a write has made the
 * history of a view unknowable, it sets an exception and returns false. */
bool tdpy_tensor_has_history(PyObject *object);

/* tdpy_tensor_of returns the tensor of an object that is one, borrowed. */
static inline td_tensor *
tdpy_tensor_of(PyObject *object) {
  return ((tdpy_tensor *)object)->tensor;
}

/* tdpy_tensor_wrap takes a reference and returns the tensor's object; NULL becomes None. */
PyObject *tdpy_tensor_wrap(td_tensor *tensor);

/* tdpy_tensor_new takes a reference and returns a new object of class `type`, tdpy_tensor_type or a
 * class derived from it. The tensor has no object yet. */
PyObject *tdpy_tensor_new(PyTypeObject *type, td_tensor *tensor);

/* tdpy_tensors_wrap returns a tuple of tensors (borrowed; NULL becomes None). */
PyObject *tdpy_tensors_wrap(td_tensor *const *tensors, uint32_t n);

/* tdpy_result wraps the result of an operation, or raises its error. */
PyObject *tdpy_result(td_status status, td_tensor *tensor, td_error *error);
