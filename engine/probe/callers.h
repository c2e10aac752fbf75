/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads of Python as the probe meets them: their names are td_probe_name_caller's. */
#pragma once

/* td_callers_watch_gil begins to watch Python's GIL, which threads of the engine take: see
 * engine/events/gil.h. The caller holds no lock but perhaps the GIL. */
void td_callers_watch_gil(void);
