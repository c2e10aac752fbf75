/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * torch.UntypedStorage: the memory of tensors as bytes, for numpy and for files. It has a buffer,
 * so what writes into the buffer writes into the tensors. No counter of versions sees that.
 *
 * UntypedStorage(n) has n zeros. from_buffer(object) is the memory of another object, which lives
 * as long as a tensor needs it. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Methods of Tensor. */
PyObject *tdpy_tensor_untyped_storage(PyObject *self, PyObject *unused);
PyObject *tdpy_tensor_storage_offset(PyObject *self, PyObject *unused);
PyObject *tdpy_tensor_element_size(PyObject *self, PyObject *unused);

/* tdpy_storage_add readies the type and puts it into the module. */
int tdpy_storage_add(PyObject *module);
