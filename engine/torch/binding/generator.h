/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * torch.Generator. GIL held. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine/torch/ops/base/generator.h"

/* tdpy_generator_converter reads a generator for PyArg_Parse's "O&": td_generator *, borrowed; NULL
 * for the default one. None changes nothing. */
int tdpy_generator_converter(PyObject *object, void *generator);

int tdpy_generator_add(PyObject *module);
