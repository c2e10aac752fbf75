/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a NaN or Inf came from: back along gradients to its birth, and on to what led to that.
 * Private to engine/profile/chain. One thread. */
#pragma once

#include "engine/profile/chain/chain_walk.h"

/* td_chain_walk_value looks for a NaN at a node or upstream of it; without one, for an Inf. It was
 * born in the same graph task, before the walk's place. If the function finds one, it adds the
 * steps to there and returns true. */
bool td_chain_walk_value(td_chain_walk *walk, uint32_t node, uint32_t graph_task);

/* td_chain_walk_birth adds the steps that led to the birth at event seq, which has its step. */
void td_chain_walk_birth(td_chain_walk *walk, uint64_t seq, const td_event_anomaly *anomaly);

/* td_chain_walk_conflict adds the step of the write that a version conflict found, if the tape has
 * it. It returns false if not. */
bool td_chain_walk_conflict(td_chain_walk *walk, const td_event_version_conflict *conflict);
