/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the ranks of a joined tape part, and which one is late. Private to engine/profile/findings.
 * Zero-initialise. */
#pragma once

#include "engine/profile/findings/finding.h"
#include "engine/profile/ranks/autopsy.h"
#include "engine/profile/ranks/lateness.h"
#include "engine/trace/tape.h"

typedef struct td_find_ranks {
  td_autopsy autopsy;
  td_lateness lateness;
  td_finding found, late; /* (owned) their texts NULL: nothing */
} td_find_ranks;

void td_find_ranks_take(td_find_ranks *self, td_tape *tape, const td_catalog *so_far,
                        const td_event_collective *event, uint64_t seq);
void td_find_ranks_end(td_find_ranks *self, const td_catalog *so_far,
                       const td_event_session_end *event);
void td_find_ranks_go(td_find_ranks *self, const td_catalog *so_far,
                      const td_event_process_gone *event);
/* td_find_ranks_see takes every event. */
void td_find_ranks_see(td_find_ranks *self, td_tape *tape, const td_catalog *so_far,
                       const td_any_event *event, uint64_t seq);
/* td_find_ranks_set takes what the recorder says of its count. */
void td_find_ranks_set(td_find_ranks *self, td_tape *tape, const td_event_setting *event);

/* td_find_ranks_learn says what is found so far in the words of a segment's catalog, and
 * td_find_ranks_tell adds what it said last. */
void td_find_ranks_learn(td_find_ranks *self, td_tape *tape, const td_catalog *catalog);
void td_find_ranks_tell(td_find_ranks *self, td_findings *findings);
void td_find_ranks_fini(td_find_ranks *self);
