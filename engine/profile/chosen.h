/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pops that somebody chose: see td_event_task_chosen. The thread that owns the replay. */
#pragma once

#include "engine/replay/replay.h"

/* td_chosen_find returns true if the pop at `seq` took a task that was chosen, and by whom. */
bool td_chosen_find(td_replay *replay, uint64_t seq, const td_event_queue_pop *pop, td_chooser *by);

/* td_chosen_is_for returns true if `event` is such a choice and the pop came right after it. */
bool td_chosen_is_for(const td_event_task_chosen *event, const td_event_queue_pop *pop);
