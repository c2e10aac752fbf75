/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/tensor_type.h"

#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/hook.h"
#include "engine/torch/binding/node_type.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/tensor_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/ops/shape/shape.h"
#include "engine/torch/tensor/factories.h"

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

/* Tensor([1., 2.]) has these numbers, Tensor(2, 3) this size, and Tensor(tensor) is a view. */
static bool
is_size(PyObject *object) {
  return PyTuple_Check(object) && !PyTuple_CheckExact(object);
}

static td_status
construct(PyObject *args, td_tensor **out, td_error *error) {
  PyObject *first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
  tdpy_sizes sizes = {0};
  if (first && tdpy_tensor_is(first)) return td_op_alias(tdpy_tensor_of(first), out, error);
  if (first && PySequence_Check(first) && !is_size(first)) {
    *out = tdpy_tensor_from_data(first, td_default_dtype(), TD_CPU);
    return TD_OK;
  }
  if (PyTuple_GET_SIZE(args) == 0) sizes.n = 1;
  if (sizes.n == 0 && !tdpy_sizes_from_args(args, &sizes)) return TD_OK;
  return td_tensor_new(td_default_dtype(), TD_CPU, sizes.n, sizes.values, out, error);
}

static PyObject *
tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  td_error error = {0};
  td_tensor *tensor = NULL;
  td_status status = construct(args, &tensor, &error);
  if (!tdpy_check(status, &error) || !tensor) return NULL;
  return tdpy_tensor_new(type, tensor);
}

static PyTypeObject *
subclass_of(PyObject *object) {
  if (PyType_Check(object) && PyType_IsSubtype((PyTypeObject *)object, &tdpy_tensor_type))
    return (PyTypeObject *)object;
  PyErr_Format(PyExc_TypeError, "cls must be a type that derives from Tensor (got %s)",
               Py_TYPE(object)->tp_name);
  return NULL;
}

/* as_subclass(tensor, cls): a view of it as an object of another class. */
static PyObject *
as_subclass(PyObject *module, PyObject *args) {
  PyObject *self, *kind;
  td_error error = {0};
  td_tensor *tensor = NULL;
  if (!PyArg_ParseTuple(args, "O!O:as_subclass", &tdpy_tensor_type, &self, &kind)) return NULL;
  PyTypeObject *type = subclass_of(kind);
  if (!type || !tdpy_check(td_op_alias(tdpy_tensor_of(self), &tensor, &error), &error)) return NULL;
  return tdpy_tensor_new(type, tensor);
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

static PyMethodDef functions[] = {{"_make_subclass", make_subclass, METH_VARARGS, NULL},
                                  {"_as_subclass", as_subclass, METH_VARARGS, NULL},
                                  {NULL}};

/* tensor_object.c says what an object is and how it ends. This adds what it can do. */
static void
fill_slots(PyTypeObject *type) {
  type->tp_new = tensor_new;
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
  tdpy_tensor_type.tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE; /* programs add methods, as in PyTorch */
  return PyModule_AddFunctions(module, functions);
}
