/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of the extension module torch._C, one table per file. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdpy_construct_functions[];   /* construct.c: zeros, tensor, arange, ... */
extern PyMethodDef tdpy_range_functions[];       /* ranges.c: linspace, eye */
extern PyMethodDef tdpy_dtype_functions[];       /* dtype_functions.c: promote_types, ... */
extern PyMethodDef tdpy_layer_functions[];       /* layers.c: conv2d, max_pool2d, ... */
extern PyMethodDef tdpy_autograd_functions[];    /* autograd.c: run_backward, grad mode */
extern PyMethodDef tdpy_error_functions[];       /* error_functions.c: nodes that fail */
extern PyMethodDef tdpy_graph_task_functions[];  /* graph_task.c: the pass at work */
extern PyMethodDef tdpy_write_watch_functions[]; /* write_watch.c: what is about to be written */
extern PyMethodDef tdpy_session_functions[];     /* session.c: recording, marks, devices */

/* tdpy_graph_task_add gives the engine its handler of warnings, the thread's objects that follow
 * a pass, and the guard of the GIL. Returns 0, or -1 with an exception. */
int tdpy_graph_task_add(void);
