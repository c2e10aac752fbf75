/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of the module with the keyword out=. The tensor `out` gets the result without
 * history, as in PyTorch. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* tdpy_out_add readies the type and puts with_out(name, function) into the module. */
int tdpy_out_add(PyObject *module);
