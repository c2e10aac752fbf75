/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * autograd.Function: a node whose forward and backward are Python. The node owns the ctx object;
 * the ctx borrows the node, so they do not keep each other. tapedeck/autograd/function.py has the
 * classes that users see; here is their base. All of it needs the GIL but what engine threads call,
 * which take it. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/graph/function.h"

/* A node with a Python class behind it. */
typedef struct tdpy_function {
  td_node node;
  PyObject *context;        /* (owned reference), of a class derived from _FunctionBase */
  char *name;               /* (owned) "MyFunctionBackward": the context's class */
  td_saved_variable *saved; /* (owned) [n_saved] */
  uint32_t n_saved;
  uint32_t n_arguments;    /* of forward */
  bool *is_tensor;         /* (owned) [n_arguments]: which of them were tensors */
  bool *is_differentiable; /* (owned) [n_inputs]: which outputs of forward have a history */
  bool was_released;       /* written under node.mutex, read with the GIL */
} tdpy_function;

/* tdpy_function_context borrows the ctx of a node that is a custom function; NULL for all others.
 */
PyObject *tdpy_function_context(td_node *node);

/* tdpy_function_is_custom tells whether a node is one. */
bool tdpy_function_is_custom(const td_node *node);

extern PyTypeObject tdpy_function_base_type;

/* _FunctionBase: what forward leaves for C; see context.c. All but function are (owned), or NULL.
 */
typedef struct tdpy_function_ctx {
  PyObject_HEAD tdpy_function *function; /* (borrowed), NULL before forward and once the node is
                                            gone; changes with the GIL held */
  PyObject *to_save;                     /* tuple given to save_for_backward */
  PyObject *non_differentiable;          /* tuple given to mark_non_differentiable */
  PyObject *dirty_tensors;               /* tuple given to mark_dirty */
  PyObject *saved_for_forward;
  PyObject *needs_input_grad; /* tuple of bools, one for each argument */
  bool materialize_grads, materialize_non_diff_grads;
} tdpy_function_ctx;

/* tdpy_function_hold returns the node of a ctx, with a new reference, or NULL without exception. */
td_node *tdpy_function_hold(tdpy_function_ctx *ctx);

/* tdpy_function_apply is _FunctionBase.apply of class `type`: runs forward and makes the node. */
PyObject *tdpy_function_apply(PyObject *type, PyObject *args, PyObject *kwargs);

/* Forward in the making. */
typedef struct tdpy_forward_call {
  PyObject *args, *kwargs; /* (borrowed) of forward */
  tdpy_function_ctx *ctx;  /* (owned reference) */
  tdpy_function *function; /* (owned reference), or NULL where no gradient is wanted */
  PyObject *outputs;       /* (owned) tuple of what forward returned, made outputs of the node */
  bool single;             /* it returned one thing, no tuple */
  Py_ssize_t n_returned;   /* how many things it returned */
} tdpy_forward_call;

/* tdpy_function_take_outputs makes what forward returned the outputs of the node
 * (function_outputs.c): inputs as views of themselves, dirty ones with a new history. 0 with an
 * exception. */
int tdpy_function_take_outputs(tdpy_forward_call *call, PyObject *result);

/* tdpy_function_add readies the type and puts it into the module. */
int tdpy_function_add(PyObject *module);

extern const td_node_class tdpy_function_class; /* function_backward.c */
