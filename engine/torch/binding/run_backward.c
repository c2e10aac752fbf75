/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/binding/edge.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/threads.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/tensor_hooks.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/warnings.h"
#include "engine/torch/pass/engine.h"

/* The arguments of one backward pass. */
typedef struct backward_call {
  PyObject *tensors, *gradients, *inputs; /* (borrowed) tuples; inputs: NULL for none */
  int keep_graph, create_graph, allow_unreachable, accumulate_grad;
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
fail(PyObject *type, const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyErr_FormatV(type, format, args);
  va_end(args);
  return false;
}

static bool
is_tuple(PyObject *object, const char *text) {
  return PyTuple_Check(object) || fail(PyExc_RuntimeError, text, Py_TYPE(object)->tp_name);
}

static bool
check_tuples(const backward_call *call) {
  if (!is_tuple(call->tensors, "tensors argument is expected to be a tuple, but got %s") ||
      !is_tuple(call->gradients, "grad_tensors argument is expected to be a tuple, but got %s"))
    return false;
  Py_ssize_t n = PyTuple_GET_SIZE(call->tensors), n_gradients = PyTuple_GET_SIZE(call->gradients);
  return n == n_gradients ||
         fail(PyExc_RuntimeError, "got %zd tensors and %zd gradients", n, n_gradients);
}

/* The edge of one root, which is a tensor or an edge. */
static bool
read_root(PyObject *item, Py_ssize_t i, td_edge *edge) {
  if (!tdpy_tensor_is(item)) {
    int is_edge = tdpy_edge_is(item);
    if (is_edge) return is_edge > 0 && tdpy_edge_read(item, edge);
    return fail(PyExc_RuntimeError,
                td_policy(gradient_edges)
                    ? "element %zd of tensors tuple is neither a Tensor nor a GradientEdge"
                    : "element %zd of tensors tuple is not a Tensor",
                i);
  }
  if (!tdpy_tensor_has_history(item)) return 0;
  *edge = td_gradient_edge(tdpy_tensor_of(item));
  return edge->node ||
         fail(PyExc_RuntimeError,
              "element %zd of tensors does not require grad and does not have a grad_fn", i);
}

static bool
read_root_gradient(PyObject *item, Py_ssize_t i, td_tensor **gradient) {
  if (tdpy_tensor_is(item)) {
    *gradient = td_tensor_ref(tdpy_tensor_of(item));
    return true;
  }
  return fail(PyExc_RuntimeError,
              item == Py_None ? "element %zd of gradients tuple is None, but the corresponding "
                                "Tensor requires grad"
                              : "element %zd of gradients tuple is not a Tensor or None",
              i);
}

static bool
set_roots(backward_call *call) {
  Py_ssize_t n = PyTuple_GET_SIZE(call->tensors);
  call->roots = TD_NEW_N(td_edge, n + 1);
  call->root_gradients = TD_NEW_N(td_tensor *, n + 1);
  call->n_roots = (uint32_t)n;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!read_root(PyTuple_GET_ITEM(call->tensors, i), i, &call->roots[i]) ||
        !read_root_gradient(PyTuple_GET_ITEM(call->gradients, i), i, &call->root_gradients[i]))
      return false;
  return true;
}

/* Takes the place of an input that no graph uses. No pass has such a node. */
static const td_node_class identity_class = {.name = "Identity"};

static td_edge
output_edge(td_tensor *tensor) {
  if (td_grad_fn(tensor)) return td_gradient_edge(tensor);
  td_node *accumulator = td_grad_accumulator_find(tensor);
  if (!accumulator)
    accumulator = td_node_new_raw(&identity_class, sizeof(td_node), 0, td_sequence_nr_next());
  return (td_edge){accumulator, 0};
}

static bool
read_input(const backward_call *call, PyObject *item, td_edge *edge) {
  if (!tdpy_tensor_is(item)) {
    int is_edge = tdpy_edge_is(item);
    if (is_edge) return is_edge > 0 && tdpy_edge_read(item, edge);
    return fail(PyExc_RuntimeError,
                td_policy(gradient_edges)
                    ? "all inputs have to be Tensors or GradientEdges, but got %s"
                    : "all inputs have to be Tensors, but got %s",
                Py_TYPE(item)->tp_name);
  }
  td_tensor *tensor = tdpy_tensor_of(item);
  td_error error = {0};
  if (call->accumulate_grad && !tdpy_check(td_retain_grad(tensor, &error), &error)) return false;
  if (!td_requires_grad(tensor))
    return fail(PyExc_RuntimeError, "One of the differentiated Tensors does not require grad");
  *edge = output_edge(tensor);
  return tdpy_check(TD_OK, &error);
}

static bool
set_outputs(backward_call *call) {
  if (!call->inputs) return true;
  if (!is_tuple(call->inputs, "inputs to run_backward must be a tuple")) return false;
  Py_ssize_t n = PyTuple_GET_SIZE(call->inputs);
  call->outputs = TD_NEW_N(td_edge, n + 1);
  call->captured = TD_NEW_N(td_tensor *, n + 1);
  call->n_outputs = (uint32_t)n;
  for (Py_ssize_t i = 0; i < n; i++)
    if (!read_input(call, PyTuple_GET_ITEM(call->inputs, i), &call->outputs[i])) return false;
  return true;
}

static bool
say_unused(uint32_t i) {
  if (!td_policy(gradient_edges))
    return fail(PyExc_RuntimeError,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.");
  return fail(PyExc_RuntimeError,
              "The differentiated Tensor at index %u appears to not have been used in the graph. "
              "Set allow_unused=True if this is the desired behavior.",
              i);
}

static PyObject *
captured_tuple(backward_call *call) {
  PyObject *tuple = PyTuple_New(call->n_outputs);
  for (uint32_t i = 0; tuple && i < call->n_outputs; i++) {
    td_tensor *grad = call->captured[i];
    call->captured[i] = NULL;
    bool fine = grad || call->allow_unreachable || say_unused(i);
    PyObject *item = fine ? tdpy_tensor_wrap(grad) : NULL;
    if (!item)
      Py_CLEAR(tuple);
    else
      PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}

/* Warns once in the life of a process, as PyTorch does. */
static bool
warn_of_cycle(const backward_call *call) {
  static _Atomic bool was_said;
  if (!call->create_graph || !call->accumulate_grad || !td_warning_due(&was_said)) return true;
  return PyErr_WarnEx(
             PyExc_UserWarning,
             "Using backward() with create_graph=True will create a reference cycle between the "
             "parameter and its gradient which can cause a memory leak. We recommend using "
             "autograd.grad when creating the graph to avoid this. If you have to use this "
             "function, make sure to reset the .grad fields of your parameters to None after use "
             "to break the cycle and avoid the leak.",
             2) == 0;
}

static bool
execute(backward_call *call) {
  tdpy_thread_name();
  td_execute_options options = {.keep_graph = call->keep_graph,
                                .create_graph = call->create_graph,
                                .accumulate_grad = call->accumulate_grad,
                                .outputs = call->n_outputs ? call->outputs : NULL,
                                .n_outputs = call->n_outputs};
  td_error error = {0};
  td_status status;
  Py_BEGIN_ALLOW_THREADS status = td_engine_execute(
      call->roots, call->root_gradients, call->n_roots, &options, call->captured, &error);
  Py_END_ALLOW_THREADS return tdpy_check(status, &error) && tdpy_warn_of_conflicts();
}

/* PyTorch warns when the pass is over, also if it failed. Then its error stays. */
static bool
execute_and_warn(backward_call *call) {
  PyObject *type, *value, *traceback;
  bool is_done = execute(call);
  PyErr_Fetch(&type, &value, &traceback);
  bool is_silent = warn_of_cycle(call);
  if (is_done) return is_silent;
  PyErr_Restore(type, value, traceback);
  return false;
}

PyObject *
tdpy_run_backward(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"tensors", "grad_tensors",      "keep_graph",      "create_graph",
                          "inputs",  "allow_unreachable", "accumulate_grad", NULL};
  backward_call call = {0};
  PyObject *result = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOpp|Opp:run_backward", names, &call.tensors,
                                   &call.gradients, &call.keep_graph, &call.create_graph,
                                   &call.inputs, &call.allow_unreachable, &call.accumulate_grad))
    return NULL;
  if (check_tuples(&call) && set_roots(&call) && set_outputs(&call) && execute_and_warn(&call))
    result = call.accumulate_grad || !call.n_outputs ? Py_NewRef(Py_None) : captured_tuple(&call);
  call_fini(&call);
  return result;
}
