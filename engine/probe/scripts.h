/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which thread runs the probe's Python programs: the first that comes by. Any thread. */
#pragma once

#include <stdbool.h>

/* td_scripts_begin returns true to the first thread, which runs the programs and then calls
 * td_scripts_end. Other threads wait for the first, unless they hold the GIL. The first one may
 * come again meanwhile, from a finalizer that calls backward: it does not wait for itself. */
bool td_scripts_begin(void);
void td_scripts_end(void);

/* td_scripts_are_cut tells whether this is the child of a fork, and the programs had begun in the
 * parent and not ended. The thread that ran them is not here, and they cannot run twice. */
bool td_scripts_are_cut(void);
