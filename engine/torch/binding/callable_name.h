/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people call a hook or a final callback: "clip (train.py:31)", as on PyTorch's tapes. The
 * rules are those of engine/probe/callables.h, which cannot use the headers of one Python. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* tdpy_callable_name returns the name; the caller frees. Calls nothing of the program's. */
char *tdpy_callable_name(PyObject *callable);
