/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checkpoints of a world, numbered from 0, the world at its first event. The next one is due after
 * so many events, or after so many changed pages. A checkpoint has only the pages that changed
 * since the one before. Page p of checkpoint k is the newest version of p up to k, or the initial
 * page. Versions are shared with the world: laying and restoring a checkpoint copy no page but the
 * header's. If the versions outgrow their budget, every second checkpoint goes, and the distances
 * double.
 * Private to engine/replay. */
#pragma once

#include "engine/replay/world.h"

typedef struct td_checkpoints td_checkpoints;

/* td_checkpoints_new begins with checkpoint 0, the world as it is: no earlier one is ever restored.
 * NULL without memory. most_events: from one checkpoint to the next at first, 0 for the usual
 * number. budget_bytes: of all versions. */
td_checkpoints *td_checkpoints_new(td_world *world, uint32_t most_events, size_t budget_bytes);
void td_checkpoints_free(td_checkpoints *checkpoints);

/* td_checkpoints_due returns true if the next checkpoint should be laid. */
bool td_checkpoints_due(const td_checkpoints *checkpoints);

/* td_checkpoints_lay stores the world's present state as the next checkpoint, and may drop others.
 * False without memory. */
bool td_checkpoints_lay(td_checkpoints *checkpoints);

/* td_checkpoints_before returns the position of the last checkpoint not after a position. */
uint64_t td_checkpoints_before(const td_checkpoints *checkpoints, uint64_t position);

/* td_checkpoints_restore makes the world what it was at a checkpoint's position. */
void td_checkpoints_restore(td_checkpoints *checkpoints, uint64_t position);
