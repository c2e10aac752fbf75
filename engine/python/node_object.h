/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes as Python objects: .name(), .next_functions, .register_hook, ._sequence_nr(). One object
 * per node for as long as Python holds it; its class bears the node's name. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/graph/node.h"

typedef struct tdpy_node {
  PyObject_HEAD td_node *node; /* (owned reference) */
} tdpy_node;

extern PyTypeObject tdpy_node_type;

/* tdpy_node_wrap returns the object of a node (borrowed), a new reference; NULL becomes None. */
PyObject *tdpy_node_wrap(td_node *node);

/* tdpy_node_add readies the types and puts them into the module. */
int tdpy_node_add(PyObject *module);

/* tdpy_owner_name returns what a hook or callback is called in profiles, "module.function";
 * (owned).
 */
char *tdpy_owner_name(PyObject *callable);

/* tdpy_node_traverse visits, for the garbage collector, what Python objects a node keeps that only
 * the caller holds: its ctx, its hooks, and those of a few nodes below it that nobody else holds
 * either. No engine thread can come to hold one of them meanwhile: the only way leads through the
 * caller, who has the GIL. */
int tdpy_node_traverse(const td_node *node, visitproc visit, void *arg);

/* tdpy_tensors_wrap returns a tuple of tensors (borrowed; NULL: None). */
PyObject *tdpy_tensors_wrap(td_tensor *const *tensors, uint32_t n);
