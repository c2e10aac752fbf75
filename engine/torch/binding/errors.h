/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns statuses into Python exceptions and back. TD_OUT_OF_RANGE is IndexError, TD_UNSUPPORTED
 * NotImplementedError; there are MemoryError and OSError too. All others are RuntimeError, as in
 * PyTorch. A hook or a Python node may raise an exception. It travels through the engine in
 * td_error.foreign and comes out as the same object. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/base/status.h"

/* tdpy_check returns 1 on TD_OK. For other statuses it sets the exception, clears the error and
 * returns 0. */
int tdpy_check(td_status status, td_error *error);

/* tdpy_none returns None, or NULL with the exception that tdpy_check sets. */
PyObject *tdpy_none(td_status status, td_error *error);

/* tdpy_fetch moves the current exception into error. Returns TD_FOREIGN. */
td_status tdpy_fetch(td_error *error);
