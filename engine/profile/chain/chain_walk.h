/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Walking back through a tape, an event at a time, and noting steps on the way. A walk reads each
 * event once at most, so a chain costs no more than the events before its moment. Private to
 * engine/profile/chain. One thread. */
#pragma once

#include "engine/profile/chain/chain_steps.h"
#include "engine/replay/replay.h"

typedef struct td_chain_walk {
  td_replay *replay; /* (borrowed) */
  const td_catalog *catalog;
  td_chain *chain;
  uint64_t at; /* number of `event`: all before it is still to be read */
  td_any_event event;
  uint64_t n_read, n_most; /* events: read so far, and at most */
  bool is_at_start;        /* it ended because there is no event before; else it read too many */
  uint32_t thread;         /* whose waits for locks count */
  td_chain_step wait; /* the longest of them since the last step; seq is UINT64_MAX without one */
  bool wants_holder;
} td_chain_walk;

/* td_chain_walk_init begins before event `at`, and may read so many events. */
void td_chain_walk_init(td_chain_walk *walk, td_replay *replay, td_chain *chain, uint64_t at,
                        uint64_t n_most);

/* td_chain_walk_back reads the readable event before. False if there is none, or if the walk has
 * read as many events as it may. */
bool td_chain_walk_back(td_chain_walk *walk);

/* td_chain_walk_add adds a step, and before it the longest wait of the thread for a lock. */
void td_chain_walk_add(td_chain_walk *walk, td_chain_step step);

/* td_chain_walk_end adds the last step: nothing leads on from a node. td_chain_walk_stop does so
 * after td_chain_walk_back returned false. */
void td_chain_walk_end(td_chain_walk *walk, td_chain_end end, uint32_t node, uint32_t graph_task);
void td_chain_walk_stop(td_chain_walk *walk, uint32_t node, uint32_t graph_task);
