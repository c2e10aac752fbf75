/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/tensor_object.h"

#include "engine/graph/tensor_hooks.h"
#include "engine/graph/variable.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/hook.h"
#include "engine/python/node_object.h"

#include <stddef.h>

static PyObject *
tensor_new(PyTypeObject *type, td_tensor *tensor) {
  tdpy_tensor *self = (tdpy_tensor *)type->tp_alloc(type, 0);
  if (!self) {
    td_tensor_unref(tensor);
    return NULL;
  }
  self->tensor = tensor;
  tensor->wrapper = self;
  return (PyObject *)self;
}

PyObject *
tdpy_tensor_wrap(td_tensor *tensor) {
  if (!tensor) Py_RETURN_NONE;
  if (!tensor->wrapper) return tensor_new(&tdpy_tensor_type, tensor);
  PyObject *self = Py_NewRef((PyObject *)tensor->wrapper);
  td_tensor_unref(tensor);
  return self;
}

PyObject *
tdpy_result(td_status status, td_tensor *tensor, td_error *error) {
  bool returned = status == TD_OK; /* that it is there need not mean that all went well */
  if (tdpy_check(status, error)) return tdpy_tensor_wrap(tensor);
  if (returned) td_tensor_unref(tensor);
  return NULL;
}

static void
tensor_dealloc(PyObject *self) {
  tdpy_tensor *object = (tdpy_tensor *)self;
  PyObject_GC_UnTrack(self);
  if (object->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->dict);
  if (object->tensor) {
    object->tensor->wrapper = NULL;
    td_tensor_unref(object->tensor);
  }
  Py_TYPE(self)->tp_free(self);
}

/* Nobody else holds the tensor: what its hooks hold is held by the object alone. */
static bool
is_ours_alone(const td_tensor *tensor) {
  return tensor && td_refcount_get(&tensor->refs) == 1;
}

static int
tensor_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((tdpy_tensor *)self)->dict);
  td_tensor *tensor = ((tdpy_tensor *)self)->tensor;
  if (!is_ours_alone(tensor)) return 0;
  int result = tdpy_hooks_traverse(td_tensor_leaf_hooks(tensor), visit, arg);
  return result ? result : tdpy_node_traverse(td_grad_fn_stored(tensor), visit, arg);
}

static int
tensor_clear(PyObject *self) {
  td_tensor *tensor = ((tdpy_tensor *)self)->tensor;
  if (is_ours_alone(tensor)) td_hooks_clear(td_tensor_leaf_hooks(tensor));
  Py_CLEAR(((tdpy_tensor *)self)->dict);
  return 0;
}

/* Tensor._make_subclass(cls, data, requires_grad): the same elements as an object of another class,
 * without history. Parameters are made so. */
static PyObject *
make_subclass(PyObject *self, PyObject *args) {
  PyTypeObject *type;
  td_tensor *data;
  int requires_grad = 0;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O!O&|p:_make_subclass", &PyType_Type, &type, tdpy_tensor_converter,
                        &data, &requires_grad))
    return NULL;
  if (!PyType_IsSubtype(type, &tdpy_tensor_type))
    return PyErr_Format(PyExc_TypeError, "%s is no subclass of Tensor", type->tp_name);
  td_tensor *tensor = td_tensor_detach(data);
  if (!tdpy_check(td_set_requires_grad(tensor, requires_grad, &error), &error)) {
    td_tensor_unref(tensor);
    return NULL;
  }
  return tensor_new(type, tensor);
}

static PyMethodDef make_subclass_def = {"_make_subclass", make_subclass, METH_VARARGS, NULL};

/* Tensor(1., 2.) is not how tensors are made; its own message is kinder than Python's. */
static PyObject *
tensor_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  return PyErr_Format(PyExc_TypeError, "%s(...) is not supported: use torch.tensor(...)",
                      type->tp_name);
}

PyTypeObject tdpy_tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck.Tensor",
    .tp_basicsize = sizeof(tdpy_tensor),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_dictoffset = offsetof(tdpy_tensor, dict),
    .tp_weaklistoffset = offsetof(tdpy_tensor, weakrefs),
    .tp_new = tensor_construct,
    .tp_dealloc = tensor_dealloc,
    .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear,
    .tp_repr = tdpy_tensor_repr,
    .tp_richcompare = tdpy_tensor_compare,
    .tp_as_number = &tdpy_tensor_number,
    .tp_as_mapping = &tdpy_tensor_mapping,
    .tp_as_sequence = &tdpy_tensor_sequence,
    .tp_iter = tdpy_tensor_iterate,
    .tp_getset = tdpy_tensor_getset,
    .tp_methods = tdpy_tensor_methods,
};

int
tdpy_tensor_add(PyObject *module) {
  tdpy_tensor_type.tp_hash = (hashfunc)_Py_HashPointer;
  if (PyModule_AddType(module, &tdpy_tensor_type)) return -1;
  PyObject *function = PyCFunction_New(&make_subclass_def, NULL);
  int failed = !function || PyModule_AddObjectRef(module, "_make_subclass", function);
  Py_XDECREF(function);
  return failed ? -1 : 0;
}
