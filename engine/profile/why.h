/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * "Why this one next?" and "why does that one wait?", computed from the state and said in English.
 */
#pragma once

#include "engine/replay/replay.h"

/* td_why_pop explains event seq, which is a queue_pop: what the queue held, who won by which rule,
 * who lost, who was not ready and for whom it still waits. td_why_at explains any event: the pop if
 * it is one, else what its node waits for or why it moved. Moves the replay and puts it back. The
 * caller frees *text. */
td_status td_why_pop(td_replay *replay, uint64_t seq, char **text, td_error *error);
td_status td_why_at(td_replay *replay, uint64_t seq, char **text, td_error *error);

/* td_why_wait explains, in the replay's present state, what a node waits for. The caller frees. */
char *td_why_wait(const td_replay *replay, uint32_t node);

/* td_why_name_node returns what people call a node: "AccumulateGrad(conv1.weight)", "MulBackward0
 * #3", or "no node" for TD_NONE. The caller frees. */
char *td_why_name_node(const td_catalog *catalog, uint32_t node);

/* td_why_describe says in a few words what an event tells: "AddBackward0 #3 enters queue 0 (cpu), 2
 * tasks in it". For event lists. The caller frees. */
char *td_why_describe(const td_catalog *catalog, td_tape *tape, const td_any_event *event);

/* td_why_mean says what to make of an event where there is something to say: of a NaN's birth, what
 * it comes from and what PyTorch's anomaly mode would say. "" elsewhere. The caller frees. */
char *td_why_mean(const td_catalog *catalog, td_tape *tape, const td_any_event *event);
