/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A replay that stands at the moment that the command line names. Main thread. */
#pragma once

#include "app/common/moment.h"
#include "engine/replay/replay.h"

/* td_moment_replay opens a tape, finds the moment as td_moment_find does, and makes a replay that
 * stands after its event. It reads only the segment of the moment, if the tape is cut and the
 * caller does not want a replay of the whole. If it returns false, it has printed why. */
bool td_moment_replay(const char *path, const td_moment_options *options, bool is_whole,
                      td_replay **replay, uint64_t *seq, char **how);

/* td_moment_replay_again does the same with a replay of the whole tape, in place of one of a
 * segment. */
bool td_moment_replay_again(const char *path, const td_moment_options *options, td_replay **replay,
                            uint64_t *seq, char **how);

/* td_moment_tells_pass tells whether the replay's catalog has all of a pass. A segment may begin or
 * end inside it. */
bool td_moment_tells_pass(td_replay *replay, uint32_t graph_task);

/* td_moment_tells_why tells whether the replay's catalog has all that led to an event. False: what
 * led to it may lie outside the segment. */
bool td_moment_tells_why(td_replay *replay, uint64_t seq);
