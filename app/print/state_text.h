/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state of an engine at one moment, for people. Main thread. */
#pragma once

#include "engine/replay/replay.h"

/* td_state_print_text prints graph tasks, queues, who waits for what, threads and counts of nodes.
 */
void td_state_print_text(const td_replay *replay);
