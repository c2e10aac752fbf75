/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What each thread did while a backward pass was under way, and whom it waited for. Read-only once
 * it is made; any number of threads may read it. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/idle_parts.h"

/* td_idle_make reads the tape once. `graph_task` is an outermost pass, or TD_NONE for all. NULL as
 * `range`: all time. Of a range, only the time in it counts: Note [Cut at the borders] in range.h.
 * TD_UNSUPPORTED if nobody saw its queues and threads; TD_OUT_OF_RANGE if there is no such pass;
 * else as td_catalog_visit. The caller calls td_idle_fini in all cases. */
td_status td_idle_make(td_tape *tape, uint32_t graph_task, const td_range *range, td_idle *idle,
                       td_error *error);
