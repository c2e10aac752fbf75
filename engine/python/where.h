/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program is, for tapes: the file and line of its own code that is running. */
#pragma once

/* tdpy_where_add lets the engine's events of writes in place say where the program wrote. */
void tdpy_where_add(void);
