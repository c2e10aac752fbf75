/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the threads of a recorded program do in the engine, by its tape. Main thread. */
#pragma once

#include "app/session/attach/threads.h"
#include "engine/replay/replay.h"

/* td_attach_doing_tell says so for each thread whose name is on the tape once. */
void td_attach_doing_tell(td_attach_threads *threads, td_replay *replay);

/* td_attach_doing_of returns what a thread of the tape does, such as "processes MulBackward0 #4".
 * NULL: it is outside the engine. The caller frees it. */
char *td_attach_doing_of(td_replay *replay, uint32_t thread);
