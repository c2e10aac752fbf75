/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the threads of the program are, from a Python that the probe has found in it. */
#pragma once

#include "engine/control/where.h"

/* td_whereabouts_add is td_where_add with the program's Python, if it has one. */
void td_whereabouts_add(td_line_text *line);
