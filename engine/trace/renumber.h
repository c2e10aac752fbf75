/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Renumbering: the ids of one tape become ids that no other tape of a join uses. The ids of each
 * space (nodes, threads, strings, ...) get a run of numbers, in their old order. First note
 * everything, then settle, then apply. One thread. */
#pragma once

#include "engine/base/id_rows.h"
#include "engine/base/status.h"
#include "engine/events/event_type.h"

typedef struct td_id_map {
  td_id_rows rows; /* in the order of the ids, once settled */
  uint32_t n;      /* one more than the greatest id */
  uint32_t first;  /* new number of the first row, once settled */
} td_id_map;

/* Zero-initialise. */
typedef struct td_renumbering {
  td_id_map maps[TD_N_ID_SPACES];
} td_renumbering;

/* td_renumbering_note takes notice of one id, td_renumbering_note_event of all that an event names.
 * TD_DAMAGED for more ids than limit: no tape of that length has them. Nodes, passes, version
 * counters and stream events have numbers for the whole process, and any id. Other ids must lie
 * below the limit. TD_OUT_OF_MEMORY. */
td_status td_renumbering_note(td_renumbering *renumbering, td_id_space space, uint32_t id,
                              uint64_t limit, td_error *error);
td_status td_renumbering_note_event(td_renumbering *renumbering, const td_event *event,
                                    uint64_t limit, td_error *error);

/* td_renumbering_settle gives out numbers from next[space] on, and moves those on.
 * TD_OUT_OF_MEMORY. */
td_status td_renumbering_settle(td_renumbering *renumbering, uint32_t next[TD_N_ID_SPACES],
                                td_error *error);

/* td_renumbering_get returns the new number of an id that was noted, or TD_NONE.
 * td_renumbering_apply writes the new numbers over the old in an event and its thread. */
uint32_t td_renumbering_get(const td_renumbering *renumbering, td_id_space space, uint32_t id);
void td_renumbering_apply(const td_renumbering *renumbering, td_event *event);

void td_renumbering_fini(td_renumbering *renumbering);
