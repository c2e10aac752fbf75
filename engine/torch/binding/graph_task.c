/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Questions and settings of a program about the backward pass that runs its code: the names of
 * torch._C. Engine threads call final callbacks, and take the GIL for it. */
#include "engine/torch/binding/callable_name.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/node_object.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/callbacks.h"
#include "engine/torch/pass/device_threads.h"
#include "engine/torch/pass/engine.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/exec_info.h"
#include "engine/torch/pass/execution_order.h"

static PyObject *
current_graph_task_id(PyObject *self, PyObject *unused) {
  td_graph_task *graph_task = td_graph_task_now();
  return PyLong_FromLong(graph_task ? (long)graph_task->handle.id : -1);
}

static PyObject *
keeps_graph(PyObject *self, PyObject *unused) {
  const td_graph_task *graph_task = td_graph_task_now();
  return PyBool_FromLong(!graph_task || graph_task->keep_graph);
}

static PyObject *
current_node(PyObject *self, PyObject *unused) {
  return tdpy_node_wrap(td_node_now());
}

static PyObject *
execution_order(PyObject *self, PyObject *unused) {
  td_node **order = NULL;
  uint32_t n = 0;
  td_error error = {0};
  if (!tdpy_check(td_graph_task_order(&order, &n, &error), &error)) return NULL;
  PyObject *list = PyList_New(n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject *node = tdpy_node_wrap(order[i]);
    if (!node)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, node);
  }
  free(order);
  return list;
}

static PyObject *
will_execute(PyObject *self, PyObject *node) {
  bool will = false;
  td_error error = {0};
  if (!PyObject_TypeCheck(node, &tdpy_node_type))
    return PyErr_Format(PyExc_RuntimeError,
                        "_will_engine_execute_node expects an grad_fn, but got %s",
                        Py_TYPE(node)->tp_name);
  if (!tdpy_check(td_graph_task_will_execute(((tdpy_node *)node)->node, &will, &error), &error))
    return NULL;
  return PyBool_FromLong(will);
}

static PyObject *
is_checkpoint_valid(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_checkpoint_is_valid());
}

static PyObject *
is_multithreading_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_multithreading());
}

static PyObject *
set_multithreading_enabled(PyObject *self, PyObject *value) {
  int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return NULL;
  td_multithreading_set(enabled);
  Py_RETURN_NONE;
}

/* final callbacks */

typedef struct python_callback {
  td_final_callback callback;
  PyObject *callable; /* (owned reference) */
} python_callback;

static td_status
callback_call(td_final_callback *callback, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *result = PyObject_CallNoArgs(((python_callback *)callback)->callable);
  Py_XDECREF(result);
  td_status status = result ? TD_OK : tdpy_fetch(error);
  PyGILState_Release(gil);
  return status;
}

static void
callback_free(td_final_callback *callback) {
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(((python_callback *)callback)->callable);
    PyGILState_Release(gil);
  }
  free(callback);
}

static PyObject *
queue_callback(PyObject *self, PyObject *callable) {
  python_callback *callback = TD_NEW(python_callback);
  callback->callback = (td_final_callback){
      .call = callback_call, .free = callback_free, .owner = tdpy_callable_name(callable)};
  callback->callable = Py_NewRef(callable);
  td_error error = {0};
  return tdpy_none(td_final_callback_queue(&callback->callback, &error), &error);
}

/* warnings */

/* Nodes may wait for the GIL. A caller of backward that holds it would wait for them for ever. */
static td_status
guard_cb(td_error *error) {
  if (!PyGILState_Check()) return TD_OK;
  return td_error_set(
      error, TD_INVALID,
      "The autograd engine was called while holding the GIL. If you are using the C++ API, the "
      "autograd engine is an expensive operation that does not require the GIL to be held so you "
      "should release it with 'pybind11::gil_scoped_release no_gil;'. If you are not using the C++ "
      "API, please report a bug to the pytorch team.");
}

/* _backward_with_gil(), for tests, is a pass that C code starts while it holds the GIL by
 * mistake. */
static PyObject *
backward_with_gil(PyObject *self, PyObject *unused) {
  const td_execute_options options = {.accumulate_grad = true};
  td_error error = {0};
  return tdpy_none(td_engine_execute(NULL, NULL, 0, &options, NULL, &error), &error);
}

static td_status
warn_cb(const char *text, td_error *error) {
  PyGILState_STATE gil = PyGILState_Ensure();
  bool raised = PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0;
  if (raised && !error) PyErr_Print();
  td_status status = raised && error ? tdpy_fetch(error) : TD_OK;
  PyGILState_Release(gil);
  return status;
}

/* Objects that follow a backward pass to each thread that runs its nodes, by name. Nobody
 * changes the dict after its making, so threads can share it. */
typedef struct stash {
  td_refcount refs;
  PyObject *objects; /* (owned reference) a dict */
} stash;

static pthread_key_t stash_key;

static void
stash_unref(void *value) {
  stash *self = value;
  if (!self || !td_refcount_dec(&self->refs)) return;
  if (Py_IsInitialized()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(self->objects);
    PyGILState_Release(gil);
  }
  free(self);
}

static void *
stash_save(void) {
  stash *self = pthread_getspecific(stash_key);
  if (self) td_refcount_inc(&self->refs);
  return self;
}

static void
stash_install(void *value) {
  stash *old = pthread_getspecific(stash_key);
  if (value) td_refcount_inc(&((stash *)value)->refs);
  pthread_setspecific(stash_key, value);
  stash_unref(old);
}

static const td_thread_local_class stash_class = {
    .save = stash_save, .install = stash_install, .release = stash_unref};

static PyObject *
stash_objects(void) {
  stash *self = pthread_getspecific(stash_key);
  return self ? self->objects : NULL;
}

static PyObject *
stash_object(PyObject *module, PyObject *args) {
  PyObject *name, *object, *now = stash_objects();
  if (!PyArg_ParseTuple(args, "UO:_stash_obj_in_tls", &name, &object)) return NULL;
  PyObject *objects = now ? PyDict_Copy(now) : PyDict_New();
  if (!objects || PyDict_SetItem(objects, name, object)) {
    Py_XDECREF(objects);
    return NULL;
  }
  stash *self = TD_NEW(stash);
  td_refcount_init(&self->refs);
  self->objects = objects;
  stash_install(self);
  stash_unref(self);
  td_thread_local_changed();
  Py_RETURN_NONE;
}

static PyObject *
is_stashed(PyObject *module, PyObject *name) {
  PyObject *objects = stash_objects();
  int found = objects ? PyDict_Contains(objects, name) : 0;
  return found < 0 ? NULL : PyBool_FromLong(found);
}

static PyObject *
get_stashed(PyObject *module, PyObject *name) {
  PyObject *objects = stash_objects();
  PyObject *object = objects ? PyDict_GetItemWithError(objects, name) : NULL;
  if (object || PyErr_Occurred()) return Py_XNewRef(object);
  PyErr_SetString(
      PyExc_RuntimeError,
      "Expected py_objects.obj_dict_.count(key) to be true, but got false.  (Could this "
      "error message be improved?  If so, please report an enhancement request to "
      "PyTorch.)");
  return NULL;
}

/* A device thread may need the GIL to finish its node. */
static PyObject *
stop_engine(PyObject *self, PyObject *unused) {
  Py_BEGIN_ALLOW_THREADS td_device_threads_stop();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyMethodDef tdpy_graph_task_functions[] = {
    {"_current_graph_task_id", current_graph_task_id, METH_NOARGS,
     "The number of the backward pass that this runs in, -1 outside."},
    {"_current_graph_task_keep_graph", keeps_graph, METH_NOARGS,
     "Whether this backward pass leaves the graph whole; True outside."},
    {"_current_autograd_node", current_node, METH_NOARGS, "The node that this runs in, or None."},
    {"_current_graph_task_execution_order", execution_order, METH_NOARGS,
     "The nodes of this backward pass in the order in which they will run."},
    {"_will_engine_execute_node", will_execute, METH_O,
     "Whether this backward pass will run a node."},
    {"_backward_with_gil", backward_with_gil, METH_NOARGS, NULL},
    {"is_checkpoint_valid", is_checkpoint_valid, METH_NOARGS, NULL},
    {"_is_multithreading_enabled", is_multithreading_enabled, METH_NOARGS, NULL},
    {"_set_multithreading_enabled", set_multithreading_enabled, METH_O, NULL},
    {"queue_callback", queue_callback, METH_O, NULL},
    {"_stash_obj_in_tls", stash_object, METH_VARARGS, NULL},
    {"_is_key_in_tls", is_stashed, METH_O, NULL},
    {"_get_obj_in_tls", get_stashed, METH_O, NULL},
    {"stop_engine", stop_engine, METH_NOARGS, NULL},
    {NULL}};

int
tdpy_graph_task_add(void) {
  if (pthread_key_create(&stash_key, stash_unref)) return -1;
  td_thread_local_add(&stash_class);
  td_warning_set_handler(warn_cb);
  td_engine_set_guard(guard_cb);
  return 0;
}
