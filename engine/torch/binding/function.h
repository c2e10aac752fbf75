/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * autograd.Function: a node whose forward and backward are Python. The node owns the ctx object.
 * The ctx borrows the node, so they do not keep each other alive. Users see the classes of
 * torch/autograd/function.py; their base is here. All of it needs the GIL. Functions that
 * engine threads call take the GIL themselves. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/function.h"

/* A node with a Python class behind it. */
typedef struct tdpy_function {
  td_node node;
  PyObject *context;        /* (owned reference), of a class derived from _FunctionBase */
  char *name;               /* (owned) "MyFunctionBackward": the context's class */
  td_saved_variable *saved; /* (owned) [n_saved] */
  uint32_t n_saved;
  uint32_t n_arguments;      /* of forward */
  bool *is_tensor;           /* (owned) [n_arguments]: which of them were tensors */
  bool *is_differentiable;   /* (owned) [n_inputs]: which outputs of forward have a history */
  _Atomic bool was_released; /* written under node.mutex, read without it */
} tdpy_function;

/* tdpy_function_context returns the ctx of a custom function's node, borrowed. NULL for all
 * other nodes. */
PyObject *tdpy_function_context(td_node *node);

/* tdpy_function_is_custom tells whether a node is that of a custom function. */
bool tdpy_function_is_custom(const td_node *node);

extern PyTypeObject tdpy_function_base_type;

/* _FunctionBase: the data that forward leaves for C; see context.c. All members but `function`
 * are (owned), or NULL. */
typedef struct tdpy_function_ctx {
  PyObject_HEAD tdpy_function *function; /* (borrowed) NULL before forward, and after the end of the
                                            node; changes with the GIL held */
  PyObject *to_save;                     /* tuple given to save_for_backward */
  PyObject *non_differentiable;          /* tuple given to mark_non_differentiable */
  PyObject *dirty_tensors;               /* tuple given to mark_dirty */
  PyObject *saved_for_forward;
  PyObject *output_grad_dtypes; /* tuple given to set_output_grad_dtype */
  PyObject *needs_input_grad;   /* tuple of bools, one for each argument */
  td_saved_variable *saved;     /* [n_saved] what its node had saved, if it outlives the node */
  uint32_t n_saved;
  bool was_released; /* the node had released that */
  bool materialize_grads, materialize_non_diff_grads;
} tdpy_function_ctx;

/* tdpy_function_apply is _FunctionBase.apply of class `type`. It makes the node and runs
 * forward. */
PyObject *tdpy_function_apply(PyObject *type, PyObject *args, PyObject *kwargs);

/* One call of forward, while it runs. */
typedef struct tdpy_forward_call {
  PyObject *args, *kwargs; /* (borrowed) of forward */
  tdpy_function_ctx *ctx;  /* (owned reference) */
  tdpy_function *function; /* (owned reference), or NULL if nothing needs a gradient */
  PyObject *outputs;     /* (owned) tuple of forward's results, which are outputs of the node now */
  bool in_slices;        /* a CopySlices runs the node: it has written into a view */
  bool single;           /* forward returned one thing, no tuple */
  Py_ssize_t n_returned; /* how many things forward returned */
} tdpy_forward_call;

/* tdpy_function_take_outputs makes the results of forward outputs of the node
 * (function_outputs.c). An input that forward returns becomes a view of itself. A dirty input
 * gets a new history. Returns 0 with an exception if it fails. */
int tdpy_function_take_outputs(tdpy_forward_call *call, PyObject *result);

/* tdpy_function_add readies the type and puts it into the module. */
int tdpy_function_add(PyObject *module);

extern const td_node_class tdpy_function_class; /* function_backward.c */
