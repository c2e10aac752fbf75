/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's threads are in Python, for a hub that asks. Needs no GIL. */
#pragma once

#include "engine/control/where.h"

/* tdpy_whereabouts_add is td_where_add with this Python. */
void tdpy_whereabouts_add(td_line_text *line);
