/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program is, for tapes: the file and line of the program's own code that runs. */
#pragma once

/* tdpy_where_add lets the engine's events of writes in place say where the program wrote. Frames of
 * files in this package's folder are not the program's. Returns 0, or -1 with an exception if the
 * package has no folder. Needs the GIL. */
int tdpy_where_add(void);
