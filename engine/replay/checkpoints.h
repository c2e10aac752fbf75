/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checkpoints of a world: number k is the state after k * interval events. A checkpoint stores only
 * the pages that changed since the one before. Page p of checkpoint k is the newest version of p
 * up to k, or zeros. Restoring a checkpoint copies the pages that differ from the world's present
 * ones. If the versions outgrow their budget, every second checkpoint goes and the interval
 * doubles.
 * Private to engine/replay. */
#pragma once

#include "engine/replay/world.h"

typedef struct td_checkpoints td_checkpoints;

/* td_checkpoints_new begins with checkpoint 0, the world as td_world_init left it. NULL without
 * memory. interval_events: 0 for the usual one. budget_bytes: of all versions. */
td_checkpoints *td_checkpoints_new(td_world *world, uint32_t interval_events, size_t budget_bytes);
void td_checkpoints_free(td_checkpoints *checkpoints);

/* td_checkpoints_interval returns the distance between checkpoints in events; it may grow while
 * they are laid. */
uint64_t td_checkpoints_interval(const td_checkpoints *checkpoints);

/* td_checkpoints_lay stores the world's present state, which is a multiple of the interval, as the
 * next checkpoint. False without memory. */
bool td_checkpoints_lay(td_checkpoints *checkpoints);

/* td_checkpoints_before returns the position of the last checkpoint not after a position. */
uint64_t td_checkpoints_before(const td_checkpoints *checkpoints, uint64_t position);

/* td_checkpoints_restore makes the world what it was at a checkpoint's position. */
void td_checkpoints_restore(td_checkpoints *checkpoints, uint64_t position);
