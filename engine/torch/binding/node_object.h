/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes as Python objects. A node has one object for as long as Python holds it. The object's class
 * is derived from Node and bears the node's name. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/node.h"

typedef struct tdpy_node {
  PyObject_HEAD td_node *node; /* (owned reference) */
} tdpy_node;

/* The type; node_type.c adds its methods and readies it. */
extern PyTypeObject tdpy_node_type;

/* tdpy_node_init makes the table of objects. Returns 0, or -1 with an exception. Before the first
 * node is wrapped. */
int tdpy_node_init(void);

/* tdpy_node_wrap returns the object of a node (borrowed), a new reference; NULL becomes None. */
PyObject *tdpy_node_wrap(td_node *node);
