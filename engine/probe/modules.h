/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which torch.nn.Module's forward a thread is in, and what the parameters are called, as stacks.py
 * tells by hooks on all modules. Private to the probe. */
#pragma once

#include "engine/probe/python.h"

/* td_modules_start runs stacks.py, which registers the hooks; NULL, or why not (the caller frees).
 * Takes the GIL. */
char *td_modules_start(const td_python *python);

/* td_modules_now returns the name of the innermost module whose forward runs on this thread, or 0.
 * Wants the GIL. */
uint32_t td_modules_now(const td_python *python);

/* td_modules_label returns the name of the parameter at this address, or 0. Any thread. */
uint32_t td_modules_label(const void *tensor);
