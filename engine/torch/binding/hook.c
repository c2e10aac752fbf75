/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/hook.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/callable_name.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/graph/node_hooks.h"
#include "engine/torch/graph/tensor_hooks.h"
#include "engine/torch/graph/variable.h"

static void
hook_free(td_hook *hook) {
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((tdpy_hook *)hook)->callable);
    PyGILState_Release(gil);
  }
  free(hook);
}

/* A handle keeps the hook, and not the node or tensor. The hook knows its list. */
typedef struct handle_object {
  PyObject_HEAD td_hook *hook; /* (owned reference) */
  unsigned long long id;
} handle_object;

static PyTypeObject handle_type;

/* Takes the hook and returns its handle. */
static PyObject *
handle_new(td_hook *hook) {
  static unsigned long long next_id; /* guarded by the GIL */
  handle_object *handle = PyObject_New(handle_object, &handle_type);
  if (!handle) {
    td_hook_unref(hook);
    return NULL;
  }
  handle->hook = hook;
  handle->id = next_id++;
  return (PyObject *)handle;
}

static void
handle_dealloc(PyObject *self) {
  td_hook_unref(((handle_object *)self)->hook);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *
handle_remove(PyObject *self, PyObject *unused) {
  td_hook_remove(((handle_object *)self)->hook);
  Py_RETURN_NONE;
}

static PyObject *
handle_enter(PyObject *self, PyObject *unused) {
  return Py_NewRef(self);
}

static PyObject *
handle_exit(PyObject *self, PyObject *args) {
  return handle_remove(self, NULL);
}

static PyObject *
handle_reduce(PyObject *self, PyObject *unused) {
  PyObject *module = PyImport_ImportModule("torch.utils.hooks");
  PyObject *make = module ? PyObject_GetAttrString(module, "handle_of_nothing") : NULL;
  Py_XDECREF(module);
  return make ? Py_BuildValue("N(K)", make, (unsigned long long)((handle_object *)self)->id) : NULL;
}

static PyObject *
handle_id(PyObject *self, void *closure) {
  return PyLong_FromUnsignedLongLong(((handle_object *)self)->id);
}

static PyMethodDef handle_methods[] = {
    {"remove", handle_remove, METH_NOARGS, "Takes the hook away; a second time does nothing."},
    {"__enter__", handle_enter, METH_NOARGS, NULL},
    {"__reduce__", handle_reduce, METH_NOARGS, NULL},
    {"__exit__", handle_exit, METH_VARARGS, "Takes the hook away."},
    {NULL}};

static PyGetSetDef handle_getset[] = {
    {"id", handle_id, NULL, "its number, unique in the process", NULL}, {NULL}};

static PyTypeObject handle_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.utils.hooks.RemovableHandle",
    .tp_basicsize = sizeof(handle_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "What register_hook returns: it can take the hook away again.",
    .tp_dealloc = handle_dealloc,
    .tp_methods = handle_methods,
    .tp_getset = handle_getset,
};

static td_hook *
hook_new(PyObject *callable) {
  tdpy_hook *self = TD_NEW(tdpy_hook);
  td_hook_init(&self->hook, tdpy_hook_call, hook_free, tdpy_callable_name(callable));
  self->callable = Py_NewRef(callable);
  return &self->hook;
}

static PyObject *
register_on_node(PyObject *self, PyObject *callable, td_hook_kind kind) {
  td_hook *hook = hook_new(callable);
  td_node_add_hook(((tdpy_node *)self)->node, hook, kind, 0);
  return handle_new(hook);
}

PyObject *
tdpy_node_register_hook(PyObject *self, PyObject *callable) {
  return register_on_node(self, callable, TD_hook_kind_post);
}

PyObject *
tdpy_node_register_prehook(PyObject *self, PyObject *callable) {
  return register_on_node(self, callable, TD_hook_kind_pre);
}

static PyObject *
register_on_tensor(PyObject *self, PyObject *callable,
                   td_status (*add)(td_tensor *, td_hook *, td_error *)) {
  td_error error = {0};
  td_hook *hook = hook_new(callable);
  if (tdpy_check(add(tdpy_tensor_of(self), hook, &error), &error)) return handle_new(hook);
  td_hook_remove(hook);
  td_hook_unref(hook);
  return NULL;
}

PyObject *
tdpy_tensor_register_hook(PyObject *self, PyObject *callable) {
  return register_on_tensor(self, callable, td_tensor_add_hook);
}

PyObject *
tdpy_tensor_register_post_accumulate_grad_hook(PyObject *self, PyObject *callable) {
  if (!tdpy_tensor_has_history(self)) return NULL;
  return register_on_tensor(self, callable, td_tensor_add_post_accumulate_grad_hook);
}

PyObject *
tdpy_tensor_retain_grad(PyObject *self, PyObject *unused) {
  td_error error = {0};
  if (td_grad_fn_stored(tdpy_tensor_of(self)) && !tdpy_tensor_has_history(self)) return NULL;
  return tdpy_none(td_retain_grad(tdpy_tensor_of(self), &error), &error);
}

typedef struct traversal {
  visitproc visit;
  void *arg;
} traversal;

static int
traverse_cb(td_hook *hook, void *data) {
  const traversal *self = data;
  return hook->call == tdpy_hook_call ? self->visit(((tdpy_hook *)hook)->callable, self->arg) : 0;
}

int
tdpy_hooks_traverse(const td_hooks *hooks, visitproc visit, void *arg) {
  traversal self = {visit, arg};
  return td_hooks_visit(hooks, traverse_cb, &self);
}

typedef struct collection {
  PyObject *functions; /* (owned reference) a list */
  uint32_t input_nr;
} collection;

static int
collect_cb(td_hook *hook, void *data) {
  const collection *self = data;
  bool is_one = hook->call == tdpy_hook_call && hook->kind == TD_hook_kind_tensor_pre &&
                hook->input_nr == self->input_nr;
  return is_one ? PyList_Append(self->functions, ((tdpy_hook *)hook)->callable) : 0;
}

PyObject *
tdpy_tensor_hooks(const td_tensor *tensor) {
  const td_node *node = td_grad_fn_stored(tensor);
  collection found = {PyList_New(0), td_output_nr(tensor)};
  const td_hooks *hooks = node ? node->hooks : td_tensor_leaf_hooks(tensor);
  bool fine = found.functions && (!hooks || !td_hooks_visit(hooks, collect_cb, &found));
  PyObject *result = NULL;
  if (fine && PyList_GET_SIZE(found.functions) == 0)
    result = Py_NewRef(Py_None);
  else if (fine) {
    PyObject *numbered = PyObject_CallOneArg((PyObject *)&PyEnum_Type, found.functions);
    PyObject *module = numbered ? PyImport_ImportModule("collections") : NULL;
    if (module) result = PyObject_CallMethod(module, "OrderedDict", "O", numbered);
    Py_XDECREF(module);
    Py_XDECREF(numbered);
  }
  Py_XDECREF(found.functions);
  return result;
}

int
tdpy_hook_add(PyObject *module) {
  if (PyType_Ready(&handle_type)) return -1;
  return PyModule_AddObjectRef(module, "RemovableHandle", (PyObject *)&handle_type);
}
