/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where gradients go in and come out: from Python's arguments to the engine's edges. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/graph/edge.h"

/* tdpy_run_backward is Engine.run_backward(tensors, grad_tensors, keep_graph, create_graph,
 * inputs=(), allow_unreachable=False, accumulate_grad=False) with tuples: PyTorch's, and its texts.
 * Releases the GIL while the engine runs. */
PyObject *tdpy_run_backward(PyObject *self, PyObject *args, PyObject *kwargs);

/* tdpy_gradient_edge returns (node, input_nr) of a tensor that requires grad. */
PyObject *tdpy_gradient_edge(PyObject *self, PyObject *tensor);

/* tdpy_edge_is tells whether an object is a torch.autograd.graph.GradientEdge: 1, 0, or -1 with an
 * exception. tdpy_edge_read writes the edge it stands for, with a new reference to the node; 0 with
 * an exception where it holds something else. */
int tdpy_edge_is(PyObject *object);
int tdpy_edge_read(PyObject *object, td_edge *edge);

/* tdpy_input_metadata returns the tuple of what gradients into a node must look like: each with
 * shape, dtype and device, or None for an output that nobody can use. */
PyObject *tdpy_input_metadata(PyObject *node, void *closure);

/* tdpy_edge_add readies the type of input metadata. */
int tdpy_edge_add(PyObject *module);
