/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tape of 100 million events that several figures share. Main thread. */
#pragma once

/* td_bench_cuts_tape returns its path, and records it at the first call. NULL if that failed;
 * *trouble says why. Both are borrowed. The tape goes when the process ends. */
const char *td_bench_cuts_tape(char **trouble);
