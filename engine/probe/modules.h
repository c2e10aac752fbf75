/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which torch.nn.Module's forward a thread is in. Private to the probe. */
#pragma once

#include "engine/probe/module_tree.h"

/* td_modules_start begins to watch the calls of modules; NULL, or why not (static). Wants the GIL.
 * Once. */
const char *td_modules_start(const td_python *python);

/* td_modules_now returns the innermost module whose forward runs on this thread; all 0 for none.
 * It wants the GIL only if td_modules_want_gil says so: in the forward pass that ran when the
 * watching began. */
td_module_name td_modules_now(const td_python *python);
bool td_modules_want_gil(void);
