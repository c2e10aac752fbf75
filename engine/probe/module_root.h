/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which module is the root of one that the program calls, and what the program calls the root.
 *
 * The variables of the running functions tell, the innermost function first: locals, globals,
 * attributes of `self`, elements of lists and dicts. If a variable's module contains the called
 * one, it is the root; of several the largest. Its name is the variable's, or the class if that
 * variable is `self` or there is none. If another module with parameters is in sight, or known, the
 * root is not alone and its name stands before all names below it. Wants the GIL. Private to the
 * probe. */
#pragma once

#include "engine/probe/python.h"

/* td_module_root_name names the root of a module that is not known, and all below it. The search
 * begins in `frame`, which calls the module. With `is_inner`, another module calls it: that
 * function's variables alone are searched. */
void td_module_root_name(const td_python *python, void *module, void *frame, bool is_inner);
