/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an operation gives to Python. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/base/status.h"
#include "engine/torch/tensor/tensor.h"

/* `one`, or `one` and `two`, or a list, or a truth. */
typedef struct tdpy_results {
  td_tensor *one, *two; /* (owned references) */
  td_tensor **many;     /* (owned) of n owned references */
  uint32_t n;
  PyObject *truth; /* (borrowed) */
  bool is_plain;   /* a pair without names */
} tdpy_results;

/* Takes the results: a tensor, a tuple, or torch.return_types.NAME. Raises the error if the status
 * is one, or if an error is pending. With the GIL. Returns (owned reference) or NULL. */
PyObject *tdpy_results_wrap(const char *name, td_status status, tdpy_results *results,
                            td_error *error);
