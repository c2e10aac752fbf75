/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Methods of sparse tensors, for the table in methods.c. They raise an exception if the tensor is
 * dense; to_dense returns such a tensor. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_sparse_functions[]; /* of the module: sparse_coo_tensor */

PyObject *tdpy_sparse_raw_indices(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_raw_values(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_indices(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_values(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_nnz(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_dim(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_dense_dim(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_is_coalesced(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_coalesce(PyObject *self, PyObject *unused);
PyObject *tdpy_sparse_to_dense(PyObject *self, PyObject *unused);
