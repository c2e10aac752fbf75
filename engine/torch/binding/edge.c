/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/edge.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/variable.h"

PyObject *
tdpy_gradient_edge(PyObject *self, PyObject *object) {
  td_tensor *tensor;
  if (!tdpy_tensor_converter(object, &tensor)) return NULL;
  td_error error = {0};
  td_edge edge = td_gradient_edge(tensor);
  if (!tdpy_check(TD_OK, &error)) {
    td_node_unref(edge.node);
    return NULL;
  }
  if (!edge.node)
    return PyErr_Format(
        PyExc_RuntimeError,
        "It is not possible to get the gradient edge for a Tensor that does not require gradients");
  PyObject *node = tdpy_node_wrap(edge.node);
  td_node_unref(edge.node);
  return node ? Py_BuildValue("(NI)", node, edge.input_nr) : NULL;
}

int
tdpy_edge_is(PyObject *object) {
  if (!PyTuple_Check(object)) return 0;
  PyObject *module = PyImport_ImportModule("torch.autograd.graph");
  PyObject *type = module ? PyObject_GetAttrString(module, "GradientEdge") : NULL;
  int is = type ? PyObject_IsInstance(object, type) : -1;
  Py_XDECREF(type);
  Py_XDECREF(module);
  return is;
}

int
tdpy_edge_read(PyObject *object, td_edge *edge) {
  PyObject *node = PyTuple_GET_ITEM(object, 0);
  if (!PyObject_TypeCheck(node, &tdpy_node_type)) {
    PyErr_Format(PyExc_RuntimeError,
                 "GradientEdge's first object must be an autograd.graph.Node but got %s",
                 Py_TYPE(node)->tp_name);
    return 0;
  }
  unsigned long input_nr = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(object, 1));
  if (PyErr_Occurred()) return 0;
  td_node *target = ((tdpy_node *)node)->node;
  if (input_nr >= target->n_inputs) {
    PyErr_Format(PyExc_IndexError, "%s has %u inputs, but the GradientEdge leads to number %lu",
                 td_node_name(target), target->n_inputs, input_nr);
    return 0;
  }
  *edge = (td_edge){td_node_ref(target), (uint32_t)input_nr};
  return 1;
}

static PyTypeObject *metadata_type;

static PyStructSequence_Field metadata_fields[] = {
    {"shape", "of the gradient"}, {"dtype", NULL}, {"device", NULL}, {NULL}};

static PyStructSequence_Desc metadata_desc = {.name = "torch.InputMetadata",
                                              .doc = "What a gradient into a node must look like.",
                                              .fields = metadata_fields,
                                              .n_in_sequence = 3};

static PyObject *
metadata_wrap(const td_input_metadata *metadata) {
  if (!metadata->defined) Py_RETURN_NONE;
  PyObject *self = PyStructSequence_New(metadata_type);
  if (!self) return NULL;
  PyStructSequence_SET_ITEM(self, 0, tdpy_size_wrap(metadata->n_dims, metadata->sizes));
  PyStructSequence_SET_ITEM(self, 1, tdpy_dtype_wrap(metadata->dtype));
  PyStructSequence_SET_ITEM(self, 2, tdpy_device_wrap(metadata->device));
  if (PyErr_Occurred()) Py_CLEAR(self);
  return self;
}

PyObject *
tdpy_input_metadata(PyObject *self, void *closure) {
  const td_node *node = ((tdpy_node *)self)->node;
  PyObject *tuple = PyTuple_New(node->n_inputs);
  for (uint32_t i = 0; tuple && i < node->n_inputs; i++) {
    PyObject *item = metadata_wrap(&node->input_metadata[i]);
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

int
tdpy_edge_add(PyObject *module) {
  metadata_type = PyStructSequence_NewType(&metadata_desc);
  return metadata_type ? 0 : -1;
}
