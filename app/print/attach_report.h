/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck attach PID` prints for people. Main thread. */
#pragma once

#include "app/session/attach/ranks.h"

/* td_attach_report_print prints the late rank, and then each td_attach_process: a sentence on why
 * it hangs, its threads, and where the engine is by its tape. */
void td_attach_report_print(const GPtrArray *processes, const td_attach_ranks *ranks);
