/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contexts of distributed passes as Python objects, for tapedeck/distributed/autograd.py. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* tdpy_distributed_add readies the type and puts it into the module. */
int tdpy_distributed_add(PyObject *module);
