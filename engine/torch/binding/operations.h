/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Python functions of operations.def. The methods are of Tensor; the type gets them besides
 * those of methods.c. The functions are the module's. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_operation_methods[], tdpy_operation_functions[];
