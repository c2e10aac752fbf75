/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/distributed.h"

#include "engine/base/alloc.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/pass/variants/distributed.h"

typedef struct context_object {
  PyObject_HEAD td_dist_context *context; /* (owned reference) */
} context_object;

/* Returns the tensors [*n] of a tuple, borrowed; the caller frees the array. If an item is no
 * tensor, NULL with an exception. */
static td_tensor **
tensors_of(PyObject *tuple, uint32_t *n) {
  td_tensor **tensors = TD_NEW_N(td_tensor *, PyTuple_GET_SIZE(tuple) + 1);
  for (*n = 0; *n < PyTuple_GET_SIZE(tuple); ++*n) {
    PyObject *item = PyTuple_GET_ITEM(tuple, *n);
    if (!tdpy_tensor_is(item)) {
      free(tensors);
      PyErr_Format(PyExc_TypeError, "expected a Tensor, not %s", Py_TYPE(item)->tp_name);
      return NULL;
    }
    tensors[*n] = tdpy_tensor_of(item);
  }
  return tensors;
}

static PyObject *
context_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  long long id, worker_id;
  if (!PyArg_ParseTuple(args, "LL:DistAutogradContext", &id, &worker_id)) return NULL;
  context_object *self = (context_object *)type->tp_alloc(type, 0);
  if (self) self->context = td_dist_context_new(id, worker_id);
  return (PyObject *)self;
}

static void
context_dealloc(PyObject *self) {
  td_dist_context_unref(((context_object *)self)->context);
  Py_TYPE(self)->tp_free(self);
}

static td_status
run(td_dist_context *context, td_tensor **roots, uint32_t n, bool retain_graph, td_error *error) {
  td_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = td_dist_execute(context, roots, n, retain_graph, error);
  td_dist_context_end_pass(context);
  Py_END_ALLOW_THREADS;
  return status;
}

static PyObject *
context_backward(PyObject *self, PyObject *args) {
  PyObject *roots;
  int retain_graph;
  uint32_t n;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O!p:backward", &PyTuple_Type, &roots, &retain_graph)) return NULL;
  td_tensor **tensors = tensors_of(roots, &n);
  if (!tensors) return NULL;
  td_status status = run(((context_object *)self)->context, tensors, n, retain_graph, &error);
  free(tensors);
  if (!tdpy_check(status, &error) || !tdpy_warn_of_conflicts()) return NULL;
  Py_RETURN_NONE;
}

/* rpc.py makes both tuples. */
static PyObject *
context_loop_back(PyObject *self, PyObject *args) {
  PyObject *sent, *received;
  uint32_t n, n_received = 0;
  if (!PyArg_ParseTuple(args, "O!O!:loop_back", &PyTuple_Type, &sent, &PyTuple_Type, &received))
    return NULL;
  td_tensor **from = tensors_of(sent, &n), **to = from ? tensors_of(received, &n_received) : NULL;
  bool fine = to && n == n_received;
  if (fine) td_dist_loop_back(((context_object *)self)->context, from, to, n);
  if (to && !fine)
    PyErr_SetString(PyExc_ValueError, "loop_back(): a copy of each tensor is needed");
  free(from);
  free(to);
  return fine ? Py_NewRef(Py_None) : NULL;
}

static bool
add_sum(PyObject *dict, td_dist_sum sum) {
  PyObject *leaf = tdpy_tensor_wrap(sum.leaf), *gradient = tdpy_tensor_wrap(sum.sum);
  bool fine = leaf && gradient && PyDict_SetItem(dict, leaf, gradient) == 0;
  Py_XDECREF(leaf);
  Py_XDECREF(gradient);
  return fine;
}

static PyObject *
context_gradients(PyObject *self, PyObject *unused) {
  size_t n;
  td_dist_sum *sums = td_dist_gradients(((context_object *)self)->context, &n);
  PyObject *dict = PyDict_New();
  bool fine = dict != NULL;
  for (size_t i = 0; i < n && fine; i++)
    fine = add_sum(dict, sums[i]);
  free(sums);
  if (!fine) Py_CLEAR(dict);
  return dict;
}

static PyObject *
context_release(PyObject *self, PyObject *unused) {
  td_dist_context_release(((context_object *)self)->context);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"backward", context_backward, METH_VARARGS, "backward(roots, retain_graph): runs a pass."},
    {"loop_back", context_loop_back, METH_VARARGS,
     "loop_back(sent, received): makes the copies a history that leads to the tensors."},
    {"gradients", context_gradients, METH_NOARGS, "The gradient of each leaf, as a dict."},
    {"release", context_release, METH_NOARGS, "Says that nobody will use the context."},
    {NULL}};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tapedeck._C.DistAutogradContext",
    .tp_basicsize = sizeof(context_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "DistAutogradContext(id, worker_id): a distributed pass as one worker sees it.",
    .tp_new = context_new,
    .tp_dealloc = context_dealloc,
    .tp_methods = methods,
};

int
tdpy_distributed_add(PyObject *module) {
  return PyModule_AddType(module, &type);
}
