/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compacting: a tape without its gaps. The flight recorder lets go of old events within the file,
 * so a tape from it has gaps (keeper.h). Any thread. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>

/* td_compact copies the chunks of the tape at `from`, which may still grow, into a new tape at
 * `to`. It trusts the tape: this session recorded it. The copy has an index if is_whole. The times
 * and the numbers of its events begin where its events do. TD_IO, TD_NOT_A_TAPE, TD_UNSUPPORTED,
 * TD_DAMAGED. */
td_status td_compact(const char *from, const char *to, bool is_whole, td_error *error);
