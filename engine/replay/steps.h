/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which training step an event belongs to. Any thread. */
#pragma once

#include "engine/replay/catalog.h"

/* td_step_at writes the training step of event `seq` of a process. A process counts a step when the
 * step is over. So it is the first step that is counted at the event or after it. If there is none,
 * td_step_at returns false and writes the step that was counted last, or TD_NONE. */
bool td_step_at(const td_catalog *catalog, uint32_t process, uint64_t seq, uint32_t *step);
