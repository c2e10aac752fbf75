/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Node creation hooks (engine/torch/graph/creation.h) that are Python functions. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_creation_functions[]; /* of the module */
