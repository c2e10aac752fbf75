/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A whole state as one JSON document. Main thread. */
#pragma once

#include "engine/replay/replay.h"

#include <stdio.h>

/* td_state_print_json writes the state of a replay, after event seq, in the shape of `tapedeck
 * state
 * --json`. */
void td_state_print_json(td_replay *replay, uint64_t seq, FILE *file);
