/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes saved, for Python: grad_fn._saved_self, grad_fn._raw_saved_self (a SavedTensor, which
 * can be given hooks), and the stack of hooks on all that is saved. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/graph/saved_variable.h"

/* tdpy_saved_attribute returns the attribute of a node (a Python object) if it is one of these, a
 * new reference; NULL without an exception where it is not, or with one. */
PyObject *tdpy_saved_attribute(PyObject *node, PyObject *name);

/* tdpy_saved_unpack_all returns a tuple of what a custom function's node saved, with all its
 * history. */
PyObject *tdpy_saved_unpack_all(td_saved_variable *saved, uint32_t n, td_node *node);

/* tdpy_saved_add readies the type and puts it into the module. */
int tdpy_saved_add(PyObject *module);
