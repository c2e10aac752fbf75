/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saved-tensor hooks (engine/torch/graph/saved_hooks.h) with Python functions. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/graph/saved_hooks.h"

/* tdpy_saved_hooks_new makes a pair of two callables, with references of its own. */
td_saved_hooks *tdpy_saved_hooks_new(PyObject *pack_hook, PyObject *unpack_hook);

extern PyMethodDef tdpy_saved_hooks_functions[]; /* of the module */
