/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * autograd.Function: a node whose forward and backward are Python. The node owns the ctx object;
 * the ctx borrows the node, so they do not keep each other. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/autograd/function.h"

/* A node with a Python class behind it. */
typedef struct tdpy_function {
  td_node node;
  PyObject *context;        /* (owned reference), a FunctionCtx */
  PyObject *backward;       /* (owned reference) the class's function, or NULL where it has none */
  char *name;               /* (owned) "MyFunctionBackward" */
  td_saved_variable *saved; /* (owned) [n_saved] */
  uint32_t n_saved;
  uint32_t n_arguments; /* of forward */
  bool *is_tensor;      /* (owned) [n_arguments]: which of them were tensors */
} tdpy_function;

/* tdpy_function_context borrows the ctx of a node that is a custom function; NULL for all others.
 */
PyObject *tdpy_function_context(td_node *node);

/* tdpy_function_is_custom tells whether a node is one. */
bool tdpy_function_is_custom(const td_node *node);

extern PyTypeObject tdpy_function_ctx_type;

/* Fields of the ctx that C reads; see context.c. */
typedef struct tdpy_function_ctx {
  PyObject_HEAD tdpy_function *function; /* (borrowed), NULL once the node is gone */
  PyObject *dict;                        /* (owned) what forward leaves on it */
  PyObject *to_save;                     /* (owned) tuple given to save_for_backward, or NULL */
  PyObject *non_differentiable; /* (owned) tuple given to mark_non_differentiable, or NULL */
  PyObject *needs_input_grad;   /* (owned) tuple of bools, one for each argument */
  int materialize_grads;
} tdpy_function_ctx;

/* tdpy_function_apply is Function.apply of class `type`: runs forward and makes the node. */
PyObject *tdpy_function_apply(PyObject *type, PyObject *args);

/* tdpy_function_add readies the types and puts them into the module. */
int tdpy_function_add(PyObject *module);

extern const td_node_class tdpy_function_class; /* function_backward.c */
