/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a value, a wait or a state came from: steps back along what led to it, to its cause. One
 * thread. */
#pragma once

#include "engine/profile/chain/chain_steps.h"
#include "engine/replay/replay.h"

/* td_chain_make asks about event seq, or if `node` is not TD_NONE, about that node after the event.
 *
 * A NaN or Inf leads back along gradients to the node where it was born, and to what led to that.
 * Anything else leads back along the last thing that the node waited for. That is a task that left
 * its queue before, or its last gradient and the node that sent it. The chain ends where the pass
 * begins. A node that waits
 * leads to the node that it waits for. An event about a lock leads to the thread that had the lock.
 *
 * A chain has two steps at least, or one if it is a birth. It costs no more than the events before
 * the moment, of which it reads a few million at most. The replay moves and is put back. If it is
 * of a segment, the chain may end where that begins. TD_OUT_OF_RANGE if the replay does not have
 * the event or the node. The caller calls td_chain_fini in all cases. */
td_status td_chain_make(td_replay *replay, uint64_t seq, uint32_t node, td_chain *chain,
                        td_error *error);

/* td_chain_make_within does the same, and reads at most so many events. If they were too few, the
 * chain says that it is unfinished, and may be wrong. */
td_status td_chain_make_within(td_replay *replay, uint64_t seq, uint32_t node, uint64_t n_events,
                               td_chain *chain, td_error *error);
