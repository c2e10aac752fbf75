/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/node_object.h"

/* objects: {address of node: address of object}, both borrowed; an object removes itself. types:
 * classes by the name of the node. */
static PyObject *objects, *types;

/* The subclass of Node with the node's name. Made once; borrowed. */
static PyTypeObject *
type_for(const char *name) {
  PyObject *type = PyDict_GetItemString(types, name);
  if (type) return (PyTypeObject *)type;
  type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){s()ss}", name, &tdpy_node_type,
                               "__slots__", "__module__", "torch");
  if (!type || PyDict_SetItemString(types, name, type)) Py_CLEAR(type);
  Py_XDECREF(type);
  return (PyTypeObject *)type;
}

static PyObject *
node_new(td_node *node, PyObject *key) {
  PyTypeObject *type = type_for(td_node_name(node));
  tdpy_node *self = type ? (tdpy_node *)type->tp_alloc(type, 0) : NULL;
  if (!self) return NULL;
  self->node = td_node_ref(node);
  PyObject *address = PyLong_FromVoidPtr(self);
  if (!address || PyDict_SetItem(objects, key, address)) Py_CLEAR(self);
  Py_XDECREF(address);
  return (PyObject *)self;
}

PyObject *
tdpy_node_wrap(td_node *node) {
  if (!node) Py_RETURN_NONE;
  PyObject *key = PyLong_FromVoidPtr(node);
  if (!key) return NULL;
  PyObject *address = PyDict_GetItem(objects, key);
  PyObject *self = address ? Py_NewRef((PyObject *)PyLong_AsVoidPtr(address)) : node_new(node, key);
  Py_DECREF(key);
  return self;
}

static void
forget(td_node *node) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *key = PyLong_FromVoidPtr(node);
  if (!key || PyDict_DelItem(objects, key)) PyErr_Clear();
  Py_XDECREF(key);
  PyErr_Restore(type, value, traceback);
}

static void
node_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  td_node *node = ((tdpy_node *)self)->node;
  PyObject_GC_UnTrack(self);
  if (node) {
    forget(node);
    td_node_unref(node);
  }
  type->tp_free(self);
}

PyTypeObject tdpy_node_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.Node",
    .tp_basicsize = sizeof(tdpy_node),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A function of the backward graph.",
    .tp_dealloc = node_dealloc,
};

int
tdpy_node_init(void) {
  objects = PyDict_New();
  types = PyDict_New();
  return objects && types ? 0 : -1;
}
