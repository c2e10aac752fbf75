/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Attributes of Node that tell what is remembered of it, and anomaly mode's side of Python. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* tdpy_anomaly_add gives the engine the metadata that Python keeps, and the module the mode's
 * functions. */
int tdpy_anomaly_add(PyObject *module);

/* Getters of Node: the dict `metadata`; `variable`, the leaf of an AccumulateGrad. */
PyObject *tdpy_node_metadata(PyObject *self, void *closure);
PyObject *tdpy_node_variable(PyObject *self, void *closure);
