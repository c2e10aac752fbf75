/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Answers to "why this one next?" and "why does that one wait?" in English, computed from the
 * state.
 */
#pragma once

#include "engine/profile/why/describe.h"
#include "engine/replay/replay.h"

#include <stdio.h>

/* td_why_pop explains event seq, which is a queue_pop: what the queue held, which task won by which
 * rule, and which nodes were not ready. td_why_at explains any event: a pop as td_why_pop does,
 * else the event and its node. Both move the replay and put it back. The caller frees *text. */
td_status td_why_pop(td_replay *replay, uint64_t seq, char **text, td_error *error);
td_status td_why_at(td_replay *replay, uint64_t seq, char **text, td_error *error);

/* td_why_wait explains, in the replay's present state, what a node waits for in a graph task. For
 * TD_NONE, it is the graph task in which the node is most active. The caller frees. */
char *td_why_wait(const td_replay *replay, uint32_t node, uint32_t graph_task);

/* td_why_contradictions says in words what contradicts the state before it, or NULL if nothing
 * does. The caller frees. */
char *td_why_contradictions(const td_catalog *catalog, td_tape *tape,
                            const td_contradictions *contradictions);

/* td_why_write_parked writes a line for each task in not_ready: what it waits for. */
void td_why_write_parked(const td_replay *replay, FILE *out);
