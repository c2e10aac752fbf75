/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The type torch.Tensor: what its objects can do. Each part has a file of its own. */
#pragma once

#include "engine/torch/binding/tensor_object.h"

/* tdpy_tensor_add puts the parts together, readies the type and puts it into the module. */
int tdpy_tensor_add(PyObject *module);

extern PyGetSetDef tdpy_tensor_getset[];                                /* attributes.c */
extern PyMethodDef tdpy_tensor_methods[];                               /* methods.c */
extern PyNumberMethods tdpy_tensor_number;                              /* arithmetic.c */
extern PyMappingMethods tdpy_tensor_mapping;                            /* indexing.c */
extern PySequenceMethods tdpy_tensor_sequence;                          /* indexing.c */
PyObject *tdpy_tensor_iterate(PyObject *self);                          /* indexing.c */
PyObject *tdpy_tensor_compare(PyObject *self, PyObject *other, int op); /* arithmetic.c */
/* set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode) */
PyObject *tdpy_set_printoptions(PyObject *self, PyObject *args);
PyObject *tdpy_set_tangent_teller(PyObject *module, PyObject *function);
PyObject *tdpy_tensor_repr(PyObject *self);                            /* repr.c */
PyObject *tdpy_tensor_format(PyObject *self, PyObject *specification); /* repr.c */

/* The attribute `grad` (grad_attribute.c). */
PyObject *tdpy_tensor_get_grad(PyObject *self, void *closure);
int tdpy_tensor_set_grad(PyObject *self, PyObject *value, void *closure);
