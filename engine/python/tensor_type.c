/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/python/tensor_type.h"

#include "engine/graph/grad_fn.h"
#include "engine/graph/tensor_hooks.h"
#include "engine/graph/variable.h"
#include "engine/python/arguments.h"
#include "engine/python/errors.h"
#include "engine/python/hook.h"
#include "engine/python/node_type.h"

/* Nobody else holds the tensor. So the object alone holds what the tensor's hooks hold. */
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

/* Tensor._make_subclass(cls, data, requires_grad): the same elements as an object of another
 * class, without history. Parameters are made so. */
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
  return tdpy_tensor_new(type, tensor);
}

static PyMethodDef make_subclass_def = {"_make_subclass", make_subclass, METH_VARARGS, NULL};

/* tensor_object.c says what an object is and how it ends. This adds what it can do. */
static void
fill_slots(PyTypeObject *type) {
  type->tp_traverse = tensor_traverse;
  type->tp_clear = tensor_clear;
  type->tp_hash = (hashfunc)_Py_HashPointer;
  type->tp_repr = tdpy_tensor_repr;
  type->tp_richcompare = tdpy_tensor_compare;
  type->tp_as_number = &tdpy_tensor_number;
  type->tp_as_mapping = &tdpy_tensor_mapping;
  type->tp_as_sequence = &tdpy_tensor_sequence;
  type->tp_iter = tdpy_tensor_iterate;
  type->tp_getset = tdpy_tensor_getset;
  type->tp_methods = tdpy_tensor_methods;
}

int
tdpy_tensor_add(PyObject *module) {
  fill_slots(&tdpy_tensor_type);
  if (PyModule_AddType(module, &tdpy_tensor_type)) return -1;
  PyObject *function = PyCFunction_New(&make_subclass_def, NULL);
  int failed = !function || PyModule_AddObjectRef(module, "_make_subclass", function);
  Py_XDECREF(function);
  return failed ? -1 : 0;
}
