/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hooks in Python, on nodes and on tensors, and the handles that remove them. On the tape a hook
 * has the name of its function and its line: callable_name.h. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/hooks.h"

/* Methods of Node. A post hook gets (grad_inputs, grad_outputs), a pre-hook (grad_outputs). Each
 * may return a tuple of as many gradients, which replace them. The methods return a
 * RemovableHandle. */
PyObject *tdpy_node_register_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_node_register_prehook(PyObject *self, PyObject *callable);

/* Methods of Tensor. */
PyObject *tdpy_tensor_register_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_tensor_register_post_accumulate_grad_hook(PyObject *self, PyObject *callable);
PyObject *tdpy_tensor_retain_grad(PyObject *self, PyObject *unused);

/* tdpy_tensor_hooks returns a new OrderedDict of the functions that hear a tensor's gradient, by
 * number, or None. */
PyObject *tdpy_tensor_hooks(const td_tensor *tensor);

/* tdpy_hooks_traverse visits the functions of the hooks in a list, for the garbage collector. */
int tdpy_hooks_traverse(const td_hooks *hooks, visitproc visit, void *arg);

/* tdpy_hook_call calls the Python function of a hook. It is td_hook.call of all these hooks
 * (hook_call.c). */
td_status tdpy_hook_call(td_hook *hook, const td_hook_call *call, td_error *error);

/* A hook with a Python function. */
typedef struct tdpy_hook {
  td_hook hook;
  PyObject *callable; /* (owned reference) */
} tdpy_hook;

/* tdpy_hook_add readies the handle's type and puts it into the module. */
int tdpy_hook_add(PyObject *module);
