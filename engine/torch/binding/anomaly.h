/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Anomaly mode, and the dict `metadata` that each node has. See anomaly.c. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* tdpy_anomaly_add gives the engine the functions for metadata of nodes, and puts the mode's
 * functions into the module. */
int tdpy_anomaly_add(PyObject *module);

/* tdpy_node_metadata is the getter of Node's dict `metadata`. */
PyObject *tdpy_node_metadata(PyObject *self, void *closure);
