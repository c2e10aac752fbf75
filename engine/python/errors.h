/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Statuses become Python exceptions and back: IndexError for TD_OUT_OF_RANGE, MemoryError, OSError,
 * NotImplementedError for TD_UNSUPPORTED, else RuntimeError, as PyTorch has it. An exception that a
 * hook or a Python node raised travels through the engine in td_error.foreign and comes out as the
 * same object. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/base/status.h"

/* tdpy_check returns 1 on TD_OK; else it sets the exception, clears the error and returns 0. */
int tdpy_check(td_status status, td_error *error);

/* tdpy_none is tdpy_check for functions that return None. */
PyObject *tdpy_none(td_status status, td_error *error);

/* tdpy_fetch moves the exception that is set into error: TD_FOREIGN. */
td_status tdpy_fetch(td_error *error);
