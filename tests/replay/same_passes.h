/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Passes under way: what a replay of a segment tells of them is what one of the whole tape tells.
 */
#pragma once

#include "engine/replay/replay.h"

#define RUNNING (1u + TD_task_status_running)

/* assert_same_passes compares two replays that stand at the same event: tasks, gradients and parked
 * buffers of the passes that run in the whole tape, and the facts of all passes of the part. */
void assert_same_passes(const td_replay *part, const td_replay *whole);
