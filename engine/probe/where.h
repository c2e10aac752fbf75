/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's threads are in their Python code, for somebody who asks why it hangs. */
#pragma once

#include "engine/control/line.h"

/* td_where_add adds to a line what each thread does: `text`. `held=1` if that was read without the
 * GIL, because its holder kept it for a second. `problem` says why there is no text. The caller has
 * neither the GIL nor a lock. It waits for a second at most. */
void td_where_add(td_line_text *line);
