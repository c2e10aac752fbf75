/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scheduler behind tests/tape_maker.h: tells a plan's events to a function, one by one. */
#pragma once

#include "tests/tape_maker.h"

typedef void (*td_tape_sink)(const td_any_event *event, void *data);

void td_tape_simulate(const td_tape_plan *plan, td_tape_sink sink, void *data);
