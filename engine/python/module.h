/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of the extension module tapedeck._C, one table per file. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_construct_functions[];  /* construct.c: zeros, tensor, arange, ... */
extern PyMethodDef tdpy_functional_functions[]; /* functional.c: linear, cross_entropy, cat, ... */
extern PyMethodDef tdpy_layer_functions[];      /* layers.c: conv2d, max_pool2d, ... */
extern PyMethodDef
    tdpy_autograd_functions[];               /* autograd.c: run_backward, grad mode, anomaly mode */
extern PyMethodDef tdpy_session_functions[]; /* session.c: recording, marks, devices */
