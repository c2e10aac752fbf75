/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for locks that go on at a moment, in words. Private to engine/profile. One thread. */
#pragma once

#include "engine/replay/replay.h"

#include <stdio.h>

/* td_lock_waits_say says of each thread that waits for a lock after event seq for how long it
 * waits in all, and who has the lock meanwhile: Note [Held, and woke late] in held_waits.h. It says
 * the same of a wait that ends with the event. The replay stands after the event. */
void td_lock_waits_say(FILE *out, td_replay *replay, uint64_t seq, const td_any_event *event);
