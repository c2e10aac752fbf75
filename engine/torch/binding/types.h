/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * torch.dtype, torch.device and torch.Size as Python objects. They are immutable. All functions
 * of this folder need the GIL, unless they say otherwise. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/tensor/tensor.h"

extern PyTypeObject tdpy_dtype_type;

/* tdpy_types_add readies the types and puts them into the module, with the dtypes. */
int tdpy_types_add(PyObject *module);

/* tdpy_dtype_wrap returns the one object of a dtype. tdpy_device_wrap returns an object for a
 * device, tdpy_size_wrap a torch.Size. New references. */
PyObject *tdpy_dtype_wrap(td_dtype dtype);
PyObject *tdpy_device_wrap(td_device device);
PyObject *tdpy_layout_wrap(bool sparse); /* torch.strided or torch.sparse_coo */

/* tdpy_format_converter reads a torch.memory_format for "O&". */
int tdpy_format_converter(PyObject *object, void *format); /* td_memory_format * */
PyObject *tdpy_size_wrap(int n_dims, const int64_t *sizes);

/* Converters for PyArg_Parse's "O&". None changes nothing. */
int tdpy_dtype_converter(PyObject *object, void *dtype);   /* td_dtype */
int tdpy_device_converter(PyObject *object, void *device); /* td_device: a device or its name */
