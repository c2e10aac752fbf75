/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a Python function is called. A function has a pointer to the C function that calls it, and
 * that can be exchanged. The function, its code and its class stay as they are, so no Python code
 * sees a difference. PyFunction_SetVectorcall is made for this; before Python 3.12 the pointer is
 * written where PyVectorcall_Function found it. With the GIL. */
#pragma once

#include "engine/probe/python.h"

typedef void *(*td_function_call)(void *function, void *const *arguments, size_t n, void *names);

/* td_function_exchange has `call` called instead, and returns what was called before. NULL: this
 * Python calls functions in another way, or `function` is none of Python's. */
td_function_call td_function_exchange(const td_python *python, void *function,
                                      td_function_call call);
