/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks in Python: of nodes and of tensors, and the handles that take them away. A hook is named on
 * the tape after its function, "module.function". */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/graph/hooks.h"

/* Methods of Node: post hooks get (grad_inputs, grad_outputs), pre-hooks (grad_outputs); each may
 * return a tuple of as many gradients instead. They return a RemovableHandle. */
PyObject *tdpy_node_register_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_node_register_prehook(PyObject *self, PyObject *callable);

/* Methods of Tensor. */
PyObject *tdpy_tensor_register_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_tensor_register_post_accumulate_grad_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_tensor_retain_grad(PyObject *self, PyObject *unused);

/* tdpy_owner_name returns the name of a hook or final callback for profiles, "module.function".
 * (owned) */
char *tdpy_owner_name(PyObject *callable);

/* tdpy_hooks_traverse visits what the hooks of a list hold, for the garbage collector. */
int tdpy_hooks_traverse(const td_hooks *hooks, visitproc visit, void *arg);

/* tdpy_hook_call calls the Python function of a hook; td_hook.call of all of them (hook_call.c). */
td_status tdpy_hook_call(td_hook *hook, const td_hook_call *call, td_error *error);

/* A hook whose function is Python's. */
typedef struct tdpy_hook {
  td_hook hook;
  PyObject *callable; /* (owned reference) */
} tdpy_hook;

/* tdpy_hook_add readies the handle's type and puts it into the module. */
int tdpy_hook_add(PyObject *module);
