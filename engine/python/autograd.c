/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * backward() and grad(): from Python's arguments to the engine's roots and edges. The GIL is
 * released while the engine runs. */
#include "engine/python/errors.h"
#include "engine/python/module.h"
#include "engine/python/tensor_object.h"

#include "engine/autograd/engine.h"
#include "engine/autograd/variable.h"
#include "engine/base/alloc.h"

/* One backward pass in the making. */
typedef struct backward_call {
  uint32_t n_roots, n_outputs;
  td_edge *roots, *outputs;   /* (owned, with their references) */
  td_tensor **root_gradients; /* (owned, with their references) */
  td_tensor **captured;       /* (owned, with their references) */
} backward_call;

static void
call_fini(backward_call *call) {
  for (uint32_t i = 0; i < call->n_roots; i++) {
    if (call->roots[i].node) td_node_unref(call->roots[i].node);
    td_tensor_unref(call->root_gradients[i]);
  }
  for (uint32_t i = 0; i < call->n_outputs; i++) {
    if (call->outputs[i].node) td_node_unref(call->outputs[i].node);
    td_tensor_unref(call->captured[i]);
  }
  free(call->roots);
  free(call->root_gradients);
  free(call->outputs);
  free(call->captured);
}

static bool
is_tensor(PyObject *object, const char *what, Py_ssize_t i) {
  if (tdpy_tensor_is(object)) return true;
  PyErr_Format(PyExc_TypeError, "element %zd of %s is not a Tensor", i, what);
  return false;
}

static bool
shape_fits(td_tensor *root, td_tensor *grad, Py_ssize_t i) {
  if (td_tensor_same_sizes(root, grad)) return true;
  char *got = td_tensor_shape_text(grad), *wanted = td_tensor_shape_text(root);
  PyErr_Format(
      PyExc_RuntimeError,
      "Mismatch in shape: grad_output[%zd] has a shape of torch.Size(%s) and output[%zd] has a "
      "shape of torch.Size(%s).",
      i, got, i, wanted);
  free(got);
  free(wanted);
  return false;
}

/* Ones for a single element where no gradient was given. */
static td_tensor *
implicit_gradient(td_tensor *root) {
  td_tensor *ones = NULL;
  if (td_tensor_n_elements(root) != 1) {
    PyErr_SetString(PyExc_RuntimeError, "grad can be implicitly created only for scalar outputs");
    return NULL;
  }
  if (td_tensor_new_like(root, &ones, NULL)) return (td_tensor *)PyErr_NoMemory();
  td_tensor_set(ones, 0, 1);
  return ones;
}

static td_tensor *
root_gradient(td_tensor *root, PyObject *given, Py_ssize_t i) {
  if (given == Py_None) return implicit_gradient(root);
  if (!tdpy_tensor_is(given)) {
    PyErr_Format(PyExc_TypeError, "gradients can be either Tensors or None, but got %s",
                 Py_TYPE(given)->tp_name);
    return NULL;
  }
  td_tensor *grad = tdpy_tensor_of(given);
  return shape_fits(root, grad, i) ? td_tensor_ref(grad) : NULL;
}

static PyObject *
gradient_at(PyObject *grads, Py_ssize_t i) {
  return i < PyTuple_GET_SIZE(grads) ? PyTuple_GET_ITEM(grads, i) : Py_None;
}

/* As PyTorch: first all gradients, of those roots that can have one, then all edges. */
static bool
set_roots(backward_call *call, PyObject *tensors, PyObject *grads) {
  Py_ssize_t n = PyTuple_GET_SIZE(tensors);
  call->roots = TD_NEW_N(td_edge, n + 1);
  call->root_gradients = TD_NEW_N(td_tensor *, n + 1);
  call->n_roots = (uint32_t)n;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PyTuple_GET_ITEM(tensors, i), *given = gradient_at(grads, i);
    if (!is_tensor(item, "tensors", i)) return false;
    if (given == Py_None && !td_requires_grad(tdpy_tensor_of(item))) continue;
    if (!(call->root_gradients[i] = root_gradient(tdpy_tensor_of(item), given, i))) return false;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    call->roots[i] = td_gradient_edge(tdpy_tensor_of(PyTuple_GET_ITEM(tensors, i)));
    if (call->roots[i].node) continue;
    PyErr_Format(PyExc_RuntimeError,
                 "element %zd of tensors does not require grad and does not have a grad_fn", i);
    return false;
  }
  return true;
}

/* Stands for an input that no graph uses: no node of the pass will ever be it. */
static const td_node_class identity_class = {.name = "Identity"};

static td_edge
output_edge(td_tensor *tensor) {
  if (!td_is_leaf(tensor)) return td_gradient_edge(tensor);
  td_node *accumulator = td_grad_accumulator_find(tensor);
  if (!accumulator)
    accumulator = td_node_new_raw(&identity_class, sizeof(td_node), 0, td_sequence_nr_next());
  return (td_edge){accumulator, 0};
}

static bool
set_outputs(backward_call *call, PyObject *inputs, bool accumulate_grad) {
  Py_ssize_t n = inputs == Py_None ? 0 : PyTuple_GET_SIZE(inputs);
  call->outputs = TD_NEW_N(td_edge, n + 1);
  call->captured = TD_NEW_N(td_tensor *, n + 1);
  call->n_outputs = (uint32_t)n;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PyTuple_GET_ITEM(inputs, i);
    if (!is_tensor(item, "inputs", i)) return false;
    td_tensor *tensor = tdpy_tensor_of(item);
    if (!td_requires_grad(tensor)) {
      PyErr_SetString(PyExc_RuntimeError,
                      "One of the differentiated Tensors does not require grad");
      return false;
    }
    if (accumulate_grad && !td_is_leaf(tensor)) {
      PyErr_SetString(
          PyExc_NotImplementedError,
          "backward(inputs=...) of a tensor that is not a leaf is not supported yet: use "
          "autograd.grad");
      return false;
    }
    call->outputs[i] = output_edge(tensor);
  }
  return true;
}

static PyObject *
captured_tuple(backward_call *call, bool allow_unused) {
  PyObject *tuple = PyTuple_New(call->n_outputs);
  for (uint32_t i = 0; tuple && i < call->n_outputs; i++) {
    td_tensor *grad = call->captured[i];
    call->captured[i] = NULL;
    if (!grad && !allow_unused)
      PyErr_SetString(
          PyExc_RuntimeError,
          "One of the differentiated Tensors appears to not have been used in the graph. Set "
          "allow_unused=True if this is the desired behavior.");
    PyObject *item = grad || allow_unused ? tdpy_tensor_wrap(grad) : NULL;
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

static int
execute(backward_call *call, const td_execute_options *options) {
  td_error error = {0};
  td_status status;
  Py_BEGIN_ALLOW_THREADS status =
      td_engine_execute(td_engine_default(), call->roots, call->root_gradients, call->n_roots,
                        options, call->captured, &error);
  Py_END_ALLOW_THREADS return tdpy_check(status, &error);
}

/* run_backward(tensors, grads, keep_graph, create_graph, inputs or None, allow_unused,
 * accumulate_grad) */
static PyObject *
run_backward(PyObject *self, PyObject *args) {
  PyObject *tensors, *grads, *inputs, *result = NULL;
  int keep_graph, create_graph, allow_unused, accumulate_grad;
  if (!PyArg_ParseTuple(args, "O!O!ppOpp:run_backward", &PyTuple_Type, &tensors, &PyTuple_Type,
                        &grads, &keep_graph, &create_graph, &inputs, &allow_unused,
                        &accumulate_grad))
    return NULL;
  backward_call call = {0};
  if (set_roots(&call, tensors, grads) && set_outputs(&call, inputs, accumulate_grad)) {
    td_execute_options options = {.keep_graph = keep_graph,
                                  .create_graph = create_graph,
                                  .accumulate_grad = accumulate_grad,
                                  .outputs = inputs == Py_None ? NULL : call.outputs,
                                  .n_outputs = call.n_outputs};
    if (execute(&call, &options))
      result = accumulate_grad ? Py_NewRef(Py_None) : captured_tuple(&call, allow_unused);
  }
  call_fini(&call);
  return result;
}

static PyObject *
is_grad_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_grad_mode());
}

static PyObject *
set_grad_mode(PyObject *self, PyObject *value) {
  int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return NULL;
  td_grad_mode_set(enabled);
  Py_RETURN_NONE;
}

static PyObject *
is_anomaly_enabled(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_engine_get_options(td_engine_default()).anomaly_raises);
}

/* set_anomaly(raises): what the tape is checked for besides is the runner's business and stays. */
static PyObject *
set_anomaly(PyObject *self, PyObject *value) {
  int raises = PyObject_IsTrue(value);
  if (raises < 0) return NULL;
  td_engine_options options = td_engine_get_options(td_engine_default());
  options.anomaly_raises = raises;
  if (raises && options.anomaly == TD_ANOMALY_OFF) options.anomaly = TD_ANOMALY_NAN;
  td_engine_set_options(td_engine_default(), options);
  Py_RETURN_NONE;
}

PyMethodDef tdpy_autograd_functions[] = {
    {"run_backward", run_backward, METH_VARARGS, NULL},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether operations are remembered."},
    {"set_grad_mode", set_grad_mode, METH_O, NULL},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS,
     "Whether a NaN ends the backward pass."},
    {"set_anomaly", set_anomaly, METH_O, NULL},
    {NULL}};
