/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The type torch.autograd.graph.Node: .name(), .next_functions, .register_hook, ._sequence_nr(). */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/node.h"

/* tdpy_node_add readies the type and puts it into the module. */
int tdpy_node_add(PyObject *module);

/* tdpy_node_traverse visits the Python objects that a node keeps, for the garbage collector: its
 * ctx and the functions of its hooks. It does so only if the caller alone holds the node. It
 * also visits those of a few nodes below that nobody else holds.
 *
 * No engine thread can come to hold one of these nodes meanwhile. The only way to them leads
 * through the caller, and the caller has the GIL. */
int tdpy_node_traverse(const td_node *node, visitproc visit, void *arg);
