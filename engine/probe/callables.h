/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people call a hook of Python's: "clip (train.py:31)", the qualified name of the function
 * that the program wrote, and where. A partial and a wrapper of functools go by what they wrap. So
 * do PyTorch's functions around the backward hook of a module or a hook of several tensors. An
 * object goes by its class, "Clipper.__call__ (train.py:40)". What is written in C has its module
 * instead of a file.
 *
 * All want the GIL. They call nothing of the program's. Private to the probe. */
#pragma once

#include "engine/probe/python.h"

/* td_callables_name returns the number of a callable's name. A name is found once for each piece of
 * code, and that stays referenced. Leaves a pending exception as it was. */
uint32_t td_callables_name(const td_python *python, void *callable);
