/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes the results of a custom function's forward outputs of its node, by PyTorch's rules. */
#include "engine/base/alloc.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/function.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/types.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/views.h"

static bool
contains(PyObject *tuple, const td_tensor *tensor) {
  if (!tuple || tuple == Py_None) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    if (tdpy_tensor_is(item) && tdpy_tensor_of(item) == tensor) return true;
  }
  return false;
}

/* A member of the ctx must be a tuple of tensors, if it is set. Writes the place of the first
 * item that is none, or -1. */
static int
find_bad_mark(PyObject *marks, const char *attribute, Py_ssize_t *bad) {
  *bad = -1;
  if (!marks || marks == Py_None) return 1;
  if (!PyTuple_Check(marks)) {
    PyErr_Format(PyExc_RuntimeError,
                 "autograd internal error: %s attribute is expected to be a tuple but is %s",
                 attribute, Py_TYPE(marks)->tp_name);
    return 0;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(marks) && *bad < 0; i++)
    if (!tdpy_tensor_is(PyTuple_GET_ITEM(marks, i))) *bad = i;
  return 1;
}

static const char *
type_name_at(PyObject *tuple, Py_ssize_t i) {
  return Py_TYPE(PyTuple_GET_ITEM(tuple, i))->tp_name;
}

static int
check_marks(const tdpy_forward_call *call) {
  PyObject *dirty = call->ctx->dirty_tensors, *others = call->ctx->non_differentiable;
  Py_ssize_t bad_dirty, bad_other;
  if (!find_bad_mark(dirty, "dirty_tensors", &bad_dirty) ||
      !find_bad_mark(others, "non_differentiable", &bad_other))
    return 0;
  if (bad_dirty >= 0)
    PyErr_Format(PyExc_RuntimeError,
                 "mark_dirty can only accept variables, but argument %zd is of type %s", bad_dirty,
                 type_name_at(dirty, bad_dirty));
  else if (bad_other >= 0)
    PyErr_Format(PyExc_RuntimeError,
                 "mark_non_differentiable only accepts variable arguments, but got %s",
                 type_name_at(others, bad_other));
  return bad_dirty < 0 && bad_other < 0;
}

/* Replaces *tensor by another tensor with the same elements and no history. */
static void
replace_by_alias(td_tensor **tensor, bool is_view) {
  td_tensor *alias = td_tensor_detach(*tensor);
  if (is_view) td_view_init(alias, *tensor, TD_CREATION_CUSTOM_FUNCTION);
  td_tensor_unref(*tensor);
  *tensor = alias;
}

static int
warn_not_an_input(void) {
  return PyErr_WarnEx(PyExc_UserWarning,
                      "ctx.mark_dirty() received a tensor that was not an input. Only input "
                      "Tensors that have been mutated should be passed to ctx.mark_dirty().",
                      1) == 0;
}

/* The base of a view becomes the output of a CopySlices. That has room for one function with one
 * gradient. */
static int
may_write_view(const tdpy_forward_call *call, const td_tensor *view) {
  td_error error = {0};
  if (call->n_returned == 1)
    return !td_policy(name_operations) || tdpy_check(td_check_in_place(view, true, &error), &error);
  PyErr_SetString(
      PyExc_RuntimeError,
      "If your Function modifies inplace an input that is a view of another Tensor, your Function "
      "cannot return more than one Tensor. This is not supported by the current autograd engine. "
      "You "
      "should either make sure the input is not a view (using .clone() for example) or make your "
      "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
      "inplace that returns a single Tensor and a second one that does the other operations). You "
      "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.");
  return 0;
}

/* A tensor that forward changed in place gets this node as its history. */
static int
take_dirty(tdpy_forward_call *call, td_tensor *tensor, uint32_t output_nr, bool is_input) {
  if (td_is_leaf(tensor) && td_requires_grad(tensor)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a leaf Variable that requires grad has been used in an in-place operation.");
    return 0;
  }
  if (!is_input && !warn_not_an_input()) return 0;
  if (tensor->base && !may_write_view(call, tensor)) return 0;
  td_error error = {0};
  call->in_slices = tensor->base != NULL;
  return tdpy_check(td_rebase_history(tensor, &call->function->node, output_nr, &error), &error);
}

/* Makes *tensor (owned reference) an output of the node with a history. May replace *tensor. */
static int
take_differentiable(tdpy_forward_call *call, td_tensor **tensor, uint32_t output_nr) {
  bool is_input = contains(call->args, *tensor);
  if (contains(call->ctx->dirty_tensors, *tensor))
    return take_dirty(call, *tensor, output_nr, is_input);
  if (is_input) replace_by_alias(tensor, true);
  td_set_grad_fn(*tensor, &call->function->node, output_nr);
  return 1;
}

/* An input that forward returns without history becomes another tensor. So nobody can change the
 * input's requires_grad through it. */
static int
take_plain(tdpy_forward_call *call, td_tensor **tensor) {
  bool is_input = contains(call->args, *tensor), requires_grad = td_requires_grad(*tensor);
  td_error error = {0};
  if (is_input && (requires_grad || !contains(call->ctx->dirty_tensors, *tensor)))
    replace_by_alias(tensor, !requires_grad);
  else if (requires_grad && !(*tensor)->base)
    return tdpy_check(td_detach_in_place(*tensor, &error), &error);
  return 1;
}

static bool
is_differentiable(const tdpy_forward_call *call, const td_tensor *tensor) {
  return call->function && td_dtype_is_differentiable(tensor->dtype) &&
         !contains(call->ctx->non_differentiable, tensor);
}

/* What forward returned. For an input of a class with a __torch_function__, that function makes the
 * view which is returned in its place. */
static PyObject *
returned_object(const tdpy_forward_call *call, PyObject *object) {
  bool asks = tdpy_tensor_is(object) && !Py_IS_TYPE(object, &tdpy_tensor_type) &&
              contains(call->args, tdpy_tensor_of(object)) &&
              !contains(call->ctx->dirty_tensors, tdpy_tensor_of(object)) &&
              PyObject_HasAttrString(object, "_prints_its_class");
  if (!asks) return Py_NewRef(object);
  bool grad_mode = td_grad_mode();
  td_grad_mode_set(false);
  PyObject *view = PyObject_CallMethod(object, "view_as", "O", object);
  td_grad_mode_set(grad_mode);
  return view;
}

/* Returns the output for one thing that forward returned, a new reference. */
static PyObject *
take_output(tdpy_forward_call *call, PyObject *object, uint32_t i) {
  td_node *node = call->function ? &call->function->node : NULL;
  if (!tdpy_tensor_is(object)) {
    if (node) td_node_add_undefined_input(node);
    return Py_NewRef(object);
  }
  td_tensor *tensor = td_tensor_ref(tdpy_tensor_of(object));
  bool differentiable = is_differentiable(call, tensor);
  if (node) {
    td_node_add_metadata(node, tensor);
    call->function->is_differentiable[i] = differentiable;
  }
  bool is_dirty = contains(call->ctx->dirty_tensors, tensor);
  if (is_dirty) td_tensor_bump_by(tensor, "mark_dirty", node);
  int fine = differentiable ? take_differentiable(call, &tensor, i) : take_plain(call, &tensor);
  if (fine && tensor->base && !is_dirty) td_view_set_creation(tensor, TD_CREATION_CUSTOM_FUNCTION);
  if (fine) return tdpy_tensor_wrap(tensor);
  td_tensor_unref(tensor);
  return NULL;
}

/* A changed tensor gets a new history. That is right only if the tensor is an output. */
static int
all_dirty_returned(const tdpy_forward_call *call, PyObject *returned) {
  PyObject *dirty = call->ctx->dirty_tensors;
  if (!dirty || dirty == Py_None) return 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dirty); i++) {
    if (contains(returned, tdpy_tensor_of(PyTuple_GET_ITEM(dirty, i)))) continue;
    PyErr_SetString(PyExc_RuntimeError,
                    "Some elements marked as dirty during the forward method were not returned as "
                    "output. The inputs that are modified inplace must all be outputs of the "
                    "Function.");
    return 0;
  }
  return 1;
}

/* If several outputs have a history, none that is a view may be changed in place. */
static void
protect_views(const tdpy_forward_call *call) {
  uint32_t n = call->function->node.n_inputs, n_differentiable = 0;
  for (uint32_t i = 0; i < n; i++)
    n_differentiable += call->function->is_differentiable[i];
  for (uint32_t i = 0; i < n && n_differentiable > 1; i++) {
    PyObject *output = PyTuple_GET_ITEM(call->outputs, i);
    if (tdpy_tensor_is(output) && tdpy_tensor_of(output)->base)
      td_view_set_creation(tdpy_tensor_of(output), TD_CREATION_MULTI_OUTPUT);
  }
}

/* What set_output_grad_dtype says of one output: a dtype, or that any will do. */
static int
take_declaration(tdpy_forward_call *call, PyObject *declared, Py_ssize_t i) {
  td_input_metadata *metadata = call->function ? &call->function->node.input_metadata[i] : NULL;
  if (declared == Py_None) {
    if (metadata) metadata->any_gradient_dtype = true;
    return 1;
  }
  if (!Py_IS_TYPE(declared, &tdpy_dtype_type)) {
    PyErr_Format(PyExc_RuntimeError,
                 "set_output_grad_dtype expects each declaration to be a torch.dtype or None, but "
                 "got %s",
                 Py_TYPE(declared)->tp_name);
    return 0;
  }
  if (metadata && !call->function->is_differentiable[i]) {
    PyErr_Format(PyExc_RuntimeError,
                 "set_output_grad_dtype: got a concrete dtype for output %zd, but that output is "
                 "not a differentiable tensor (it is a non-tensor, was marked non-differentiable, "
                 "or has a non-differentiable dtype). Pass None for output %zd instead.",
                 i, i);
    return 0;
  }
  if (metadata) {
    metadata->has_gradient_dtype = true;
    tdpy_dtype_converter(declared, &metadata->gradient_dtype);
  }
  return 1;
}

static int
take_declarations(tdpy_forward_call *call) {
  PyObject *declared = call->ctx->output_grad_dtypes;
  if (!declared || declared == Py_None) return 1;
  if (!PyTuple_Check(declared)) {
    PyErr_Format(PyExc_RuntimeError,
                 "set_output_grad_dtype expects the declarations to be a tuple, but got: %s",
                 Py_TYPE(declared)->tp_name);
    return 0;
  }
  if (PyTuple_GET_SIZE(declared) != call->n_returned) {
    PyErr_Format(PyExc_RuntimeError,
                 "set_output_grad_dtype expected the number of declarations to match the number of "
                 "outputs: the Function returned %zd values but %zd declarations were provided",
                 call->n_returned, PyTuple_GET_SIZE(declared));
    return 0;
  }
  for (Py_ssize_t i = 0; i < call->n_returned; i++)
    if (!take_declaration(call, PyTuple_GET_ITEM(declared, i), i)) return 0;
  return 1;
}

static void
finish_node(tdpy_forward_call *call) {
  td_node *node = &call->function->node;
  td_tensor **results = TD_NEW_N(td_tensor *, node->n_inputs + 1);
  protect_views(call);
  for (uint32_t i = 0; i < node->n_inputs; i++)
    if (call->function->is_differentiable[i])
      results[i] = tdpy_tensor_of(PyTuple_GET_ITEM(call->outputs, i));
  td_node_announce(node);
  td_anomaly_end_forward(node, results, node->n_inputs);
  free(results);
}

int
tdpy_function_take_outputs(tdpy_forward_call *call, PyObject *result) {
  call->single = !PyTuple_Check(result);
  PyObject *returned = call->single ? PyTuple_Pack(1, result) : Py_NewRef(result);
  if (!returned) return 0;
  Py_ssize_t n = call->n_returned = PyTuple_GET_SIZE(returned);
  int fine = check_marks(call);
  if (call->function) call->function->is_differentiable = TD_NEW_N(bool, n + 1);
  call->outputs = fine ? PyTuple_New(n) : NULL;
  for (Py_ssize_t i = 0; call->outputs && i < n; i++) {
    PyObject *object = returned_object(call, PyTuple_GET_ITEM(returned, i));
    PyObject *output = object ? take_output(call, object, (uint32_t)i) : NULL;
    Py_XDECREF(object);
    if (!output)
      Py_CLEAR(call->outputs);
    else
      PyTuple_SET_ITEM(call->outputs, i, output);
  }
  fine = call->outputs && all_dirty_returned(call, returned) && take_declarations(call);
  if (fine && call->function) finish_node(call);
  Py_DECREF(returned);
  return fine;
}
