/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Why a task lay in its queue, in words. Private to engine/profile. One thread. */
#pragma once

#include "engine/profile/why/story.h"

/* td_lay_say says of a pop for how long the task lay, what the thread did meanwhile, and which node
 * kept it for longest: Note [Why tasks lie] in report/queue_waits.h. It says nothing if the push is
 * too long ago. */
void td_lay_say(FILE *out, td_replay *replay, uint64_t seq, const td_event_queue_pop *pop);

/* td_lay_say_now says of a task that lies in a queue what the queue's thread does. */
void td_lay_say_now(const td_story *story, uint32_t queue, uint32_t graph_task);
