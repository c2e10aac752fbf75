/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * torch.Tensor: a Python object that holds a reference to a td_tensor, which points back at it
 * (wrapper), so that one tensor is one object for as long as Python holds it. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/tensor/tensor.h"

typedef struct tdpy_tensor {
  PyObject_HEAD td_tensor *tensor; /* (owned reference) */
  PyObject *dict;                  /* (owned) attributes that users set, or NULL */
  PyObject *weakrefs;
} tdpy_tensor;

extern PyTypeObject tdpy_tensor_type;

static inline int
tdpy_tensor_is(PyObject *object) {
  return PyObject_TypeCheck(object, &tdpy_tensor_type);
}

/* tdpy_tensor_has_history tells whether a view's history can be told: false, with an exception set,
 * where a write forbids it. */
bool tdpy_tensor_has_history(PyObject *object);

/* tdpy_tensor_of borrows the tensor of an object that is one. */
static inline td_tensor *
tdpy_tensor_of(PyObject *object) {
  return ((tdpy_tensor *)object)->tensor;
}

/* tdpy_tensor_has_item: RuntimeError for tensors of the meta device, which have no elements to
 * read; those of an accelerator are waited for (stream.h). */
int tdpy_tensor_has_item(const td_tensor *tensor);

/* tdpy_tensor_wrap takes a reference and returns the tensor's object; NULL becomes None. */
PyObject *tdpy_tensor_wrap(td_tensor *tensor);

/* tdpy_result wraps what an operation returned, or raises its error. */
PyObject *tdpy_result(td_status status, td_tensor *tensor, td_error *error);

/* tdpy_tensor_add readies the type and puts it into the module. */
int tdpy_tensor_add(PyObject *module);

/* The attribute `grad` (grad_attribute.c). */
PyObject *tdpy_tensor_get_grad(PyObject *self, void *closure);
int tdpy_tensor_set_grad(PyObject *self, PyObject *value, void *closure);

/* The parts of the type, one file each. */
extern PyGetSetDef tdpy_tensor_getset[];                                /* attributes.c */
extern PyMethodDef tdpy_tensor_methods[];                               /* methods.c */
extern PyNumberMethods tdpy_tensor_number;                              /* arithmetic.c */
extern PyMappingMethods tdpy_tensor_mapping;                            /* indexing.c */
extern PySequenceMethods tdpy_tensor_sequence;                          /* indexing.c */
PyObject *tdpy_tensor_iterate(PyObject *self);                          /* indexing.c */
PyObject *tdpy_tensor_compare(PyObject *self, PyObject *other, int op); /* arithmetic.c */
PyObject *tdpy_tensor_repr(PyObject *self);                             /* repr.c */
PyObject *tdpy_tensor_format(PyObject *self, PyObject *specification);  /* repr.c */
PyObject *tdpy_element(const td_tensor *tensor,
                       int64_t index); /* convert.c: one element as a number */
