/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensors that a node saved: grad_fn._saved_self, and grad_fn._raw_saved_self. The latter is
 * a SavedTensor, which takes hooks. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/saved_variable.h"

/* tdpy_saved_attribute returns the attribute `name` of a node's object, if it is one of these. A
 * new reference. If it is not one of these, it returns NULL without an exception. If it fails,
 * NULL with one. */
PyObject *tdpy_saved_attribute(PyObject *node, PyObject *name);

/* tdpy_saved_unpack_all returns a tuple of the tensors that a custom function's node saved, with
 * their history. Without a node (NULL), outputs have none. */
PyObject *tdpy_saved_unpack_all(td_saved_variable *saved, uint32_t n, td_node *node);

/* _make_saved_tensor, for what is no node and saves tensors. */
extern PyMethodDef tdpy_saved_tensor_functions[];

/* tdpy_saved_add readies the type and puts it into the module. */
int tdpy_saved_add(PyObject *module);
