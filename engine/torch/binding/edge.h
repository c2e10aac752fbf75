/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where gradients go in and come out. This turns arguments of Python into edges of the engine. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/edge.h"

/* tdpy_run_backward is Engine.run_backward(tensors, grad_tensors, keep_graph, create_graph,
 * inputs=(), allow_unreachable=False, accumulate_grad=False) with tuples. It is PyTorch's
 * function, with PyTorch's texts. It releases the GIL while the engine runs (run_backward.c). */
PyObject *tdpy_run_backward(PyObject *self, PyObject *args, PyObject *kwargs);

/* tdpy_gradient_edge returns (node, input_nr) of a tensor that requires grad. */
PyObject *tdpy_gradient_edge(PyObject *self, PyObject *tensor);

/* tdpy_edge_is returns 1 if object is a torch.autograd.graph.GradientEdge, 0 if not, or -1 with
 * an exception. tdpy_edge_read writes the edge of such an object, with a new reference to the
 * node. It returns 0 with an exception if the object's members are wrong. */
int tdpy_edge_is(PyObject *object);
int tdpy_edge_read(PyObject *object, td_edge *edge);

/* tdpy_input_metadata is the getter of Node's `_input_metadata`, a tuple. An item has the shape,
 * dtype and device of the gradient into that input. It is None if nobody can use the output. */
PyObject *tdpy_input_metadata(PyObject *node, void *closure);

/* tdpy_edge_add readies the type of input metadata. */
int tdpy_edge_add(PyObject *module);
