/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/node_type.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/anomaly.h"
#include "engine/torch/binding/edge.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/saved_tensor.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/accumulate_grad.h"

/* The hooks of a node, if nobody else holds the node. Then the object alone holds what the hooks
 * hold. */
static td_hooks *
own_hooks(PyObject *self) {
  const td_node *node = ((tdpy_node *)self)->node;
  if (!node || td_refcount_get(&node->refs) != 1) return NULL;
  return atomic_load_explicit(&((td_node *)node)->hooks, memory_order_acquire);
}

/* This leaves out AccumulateGrads: their leaves find them again without holding them. */
static int
traverse_some(const td_node *node, int *left, visitproc visit, void *arg) {
  if (!node || node->sequence_nr == TD_SEQUENCE_NR_MAX || td_refcount_get(&node->refs) != 1 ||
      --*left < 0)
    return 0;
  Py_VISIT(tdpy_function_context((td_node *)node));
  int result = tdpy_hooks_traverse(
      atomic_load_explicit(&((td_node *)node)->hooks, memory_order_acquire), visit, arg);
  for (uint32_t i = 0; i < node->n_outputs && !result; i++)
    result = traverse_some(node->next_edges[i].node, left, visit, arg);
  return result;
}

int
tdpy_node_traverse(const td_node *node, visitproc visit, void *arg) {
  int left = 16;
  return traverse_some(node, &left, visit, arg);
}

static int
node_traverse(PyObject *self, visitproc visit, void *arg) {
  const td_node *node = ((tdpy_node *)self)->node;
  if (node && node->sequence_nr == TD_SEQUENCE_NR_MAX)
    return tdpy_hooks_traverse(own_hooks(self), visit, arg);
  return tdpy_node_traverse(node, visit, arg);
}

static int
node_clear(PyObject *self) {
  td_hooks_clear(own_hooks(self));
  return 0;
}

static PyObject *
node_name(PyObject *self, PyObject *unused) {
  char *name = td_node_qualified_name(((tdpy_node *)self)->node);
  PyObject *text = PyUnicode_FromString(name);
  free(name);
  return text;
}

static PyObject *
node_sequence_nr(PyObject *self, PyObject *unused) {
  return PyLong_FromUnsignedLongLong(((tdpy_node *)self)->node->sequence_nr);
}

static PyObject *
node_set_sequence_nr(PyObject *self, PyObject *number) {
  PyObject *integer = PyNumber_Index(number);
  if (!integer) {
    PyErr_SetString(PyExc_TypeError, "an integer is required");
    return NULL;
  }
  unsigned long long sequence_nr = PyLong_AsUnsignedLongLong(integer);
  Py_DECREF(integer);
  if (PyErr_Occurred()) return NULL;
  td_node_set_sequence_nr(((tdpy_node *)self)->node, sequence_nr);
  Py_RETURN_NONE;
}

static PyObject *
edge_tuple(td_edge edge) {
  PyObject *node = tdpy_node_wrap(edge.node);
  PyObject *tuple = node ? Py_BuildValue("(OI)", node, edge.node ? edge.input_nr : 0) : NULL;
  Py_XDECREF(node);
  return tuple;
}

static PyObject *
node_next_functions(PyObject *self, void *closure) {
  const td_node *node = ((tdpy_node *)self)->node;
  PyObject *tuple = PyTuple_New(node->n_outputs);
  for (uint32_t i = 0; tuple && i < node->n_outputs; i++) {
    PyObject *edge = edge_tuple(node->next_edges[i]);
    if (!edge)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, edge);
  }
  return tuple;
}

/* A node also has the attributes of the tensors that it saved. A custom Function's node has
 * those of its ctx. */
static PyObject *
node_getattr(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyObject *type, *exception, *traceback;
  PyErr_Fetch(&type, &exception, &traceback);
  PyObject *context = tdpy_function_context(((tdpy_node *)self)->node);
  value = tdpy_saved_attribute(self, name);
  if (!value && !PyErr_Occurred() && context) value = PyObject_GetAttr(context, name);
  if (!value && !PyErr_Occurred()) {
    PyErr_Restore(type, exception, traceback);
    return NULL;
  }
  Py_XDECREF(type);
  Py_XDECREF(exception);
  Py_XDECREF(traceback);
  return value;
}

/* A custom Function's node sets attributes on its ctx. */
static int
node_setattr(PyObject *self, PyObject *name, PyObject *value) {
  PyObject *context = tdpy_function_context(((tdpy_node *)self)->node);
  return context ? PyObject_SetAttr(context, name, value)
                 : PyObject_GenericSetAttr(self, name, value);
}

/* The node of a custom function is an instance of its ctx's class, and equal to the ctx. */
static PyObject *
node_class(PyObject *self, void *closure) {
  PyObject *context = tdpy_function_context(((tdpy_node *)self)->node);
  return Py_NewRef((PyObject *)Py_TYPE(context ? context : self));
}

static Py_hash_t
node_hash(PyObject *self) {
  PyObject *context = tdpy_function_context(((tdpy_node *)self)->node);
  return _Py_HashPointer(context ? context : self);
}

static PyObject *
node_compare(PyObject *self, PyObject *other, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  PyObject *context = tdpy_function_context(((tdpy_node *)self)->node);
  return PyBool_FromLong((self == other || (context && context == other)) == (op == Py_EQ));
}

static PyObject *
node_repr(PyObject *self) {
  return PyUnicode_FromFormat("<%s object at %p>", td_node_name(((tdpy_node *)self)->node), self);
}

static PyObject *
node_requires_grad(PyObject *self, void *closure) {
  Py_RETURN_TRUE;
}

static PyObject *
node_variable(PyObject *self, void *closure) {
  td_tensor *variable = td_accumulate_grad_variable(((tdpy_node *)self)->node);
  if (variable) return tdpy_tensor_wrap(td_tensor_ref(variable));
  return PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'",
                      Py_TYPE(self)->tp_name);
}

static PyMethodDef node_methods[] = {
    {"name", node_name, METH_NOARGS, "The node's name."},
    {"_sequence_nr", node_sequence_nr, METH_NOARGS,
     "Its place in the forward pass, on its thread."},
    {"_set_sequence_nr", node_set_sequence_nr, METH_O, NULL},
    {"register_hook", tdpy_node_register_hook, METH_O,
     "Calls hook(grad_inputs, grad_outputs) after the node ran; returns a handle with remove()."},
    {"register_prehook", tdpy_node_register_prehook, METH_O,
     "Calls hook(grad_outputs) before the node runs; returns a handle with remove()."},
    {NULL}};

static PyGetSetDef node_getset[] = {
    {"__class__", node_class, NULL, NULL, NULL},
    {"_input_metadata", tdpy_input_metadata, NULL, "shape, dtype and device of each input", NULL},
    {"metadata", tdpy_node_metadata, NULL, "a dict for notes; anomaly mode's are there", NULL},
    {"requires_grad", node_requires_grad, NULL, "True", NULL},
    {"variable", node_variable, NULL, "the leaf of an AccumulateGrad", NULL},
    {"next_functions", node_next_functions, NULL, "(node, input_nr) for each of its outputs", NULL},
    {NULL}};

/* Writes the tensors of a call's arguments (NULL: None) into inputs[n_inputs],
 * with new references. */
static int
call_arguments(const td_node *node, PyObject *args, PyObject *kwargs, td_tensor **inputs) {
  if (kwargs && PyDict_GET_SIZE(kwargs)) {
    PyErr_SetString(PyExc_TypeError, "keyword arguments are not supported");
    return 0;
  }
  if (PyTuple_GET_SIZE(args) != node->n_inputs) {
    PyErr_Format(PyExc_TypeError, "expected %u arguments, got %zd instead", node->n_inputs,
                 PyTuple_GET_SIZE(args));
    return 0;
  }
  for (uint32_t i = 0; i < node->n_inputs; i++) {
    PyObject *item = PyTuple_GET_ITEM(args, i);
    if (item != Py_None && !tdpy_tensor_is(item)) {
      PyErr_Format(PyExc_TypeError, "argument %u is not a Variable", i);
      return 0;
    }
    inputs[i] = item == Py_None ? NULL : td_tensor_ref(tdpy_tensor_of(item));
  }
  return 1;
}

/* Takes the references. */
static PyObject *
call_results(td_tensor **outputs, uint32_t n) {
  if (n == 1) return tdpy_tensor_wrap(outputs[0]);
  PyObject *tuple = PyTuple_New(n);
  for (uint32_t i = 0; i < n; i++)
    if (tuple)
      PyTuple_SET_ITEM(tuple, i, tdpy_tensor_wrap(outputs[i]));
    else
      td_tensor_unref(outputs[i]);
  return tuple;
}

/* grad_fn(*gradients): the node's function alone, without hooks, in the present grad mode. */
static PyObject *
node_call(PyObject *self, PyObject *args, PyObject *kwargs) {
  td_node *node = ((tdpy_node *)self)->node;
  td_tensor **inputs = TD_NEW_N(td_tensor *, node->n_inputs + 1);
  td_tensor **outputs = TD_NEW_N(td_tensor *, node->n_outputs + 1);
  PyObject *results = NULL;
  td_error error = {0};
  if (tdpy_function_is_custom(node))
    PyErr_Format(PyExc_TypeError, "'%s' object is not callable", td_node_name(node));
  else if (call_arguments(node, args, kwargs, inputs)) {
    td_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = node->klass->apply(node, inputs, outputs, &error);
    Py_END_ALLOW_THREADS;
    if (tdpy_check(status, &error)) results = call_results(outputs, node->n_outputs);
  }
  for (uint32_t i = 0; i < node->n_inputs; i++)
    td_tensor_unref(inputs[i]);
  free(inputs);
  free(outputs);
  return results;
}

/* node_object.c says what an object is and how it ends. This adds what it can do. */
static void
fill_slots(PyTypeObject *type) {
  type->tp_traverse = node_traverse;
  type->tp_clear = node_clear;
  type->tp_repr = node_repr;
  type->tp_call = node_call;
  type->tp_getattro = node_getattr;
  type->tp_setattro = node_setattr;
  type->tp_hash = node_hash;
  type->tp_richcompare = node_compare;
  type->tp_methods = node_methods;
  type->tp_getset = node_getset;
}

int
tdpy_node_add(PyObject *module) {
  fill_slots(&tdpy_node_type);
  return tdpy_node_init() ? -1 : PyModule_AddType(module, &tdpy_node_type);
}
