/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Python functions of operations.def: methods of Tensor, which the type gets besides those of
 * methods.c, and functions of the module. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_operation_methods[], tdpy_operation_functions[];
