/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a recorder did no more, because it had taken too much of the program's time: Note [A budget
 * of the recorder] in engine/probe/own_time.h. Constant; any thread. */
#pragma once

#include "engine/events/event.h"

/* td_recorder_notes_next returns the first work from `*work` on that was stopped, as a sentence for
 * td_translate about what the tape lacks, and moves *work behind it. NULL: there is none. */
const char *td_recorder_notes_next(uint32_t stopped, uint32_t *work);
