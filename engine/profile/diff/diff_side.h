/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One of two tapes that are compared, and the visits of the passes at hand. A window is a piece of
 * the tape that has some of the passes as a whole. It is a segment, and the next one too if a pass
 * goes on there. Or it is the whole tape, if that was not cut, if a pass is longer than that, or if
 * a keyframe is damaged. One window is in memory. Private to engine/profile. */
#pragma once

#include "engine/profile/diff/diff_tasks.h"
#include "engine/profile/diff/visits.h"

typedef struct td_diff_side {
  td_tape *tape;       /* (borrowed) */
  td_diff_tasks tasks; /* (owned), as all below */
  bool *goes_on;       /* by segment: the window that it begins has the next segment too */
  bool is_whole;       /* the only window is the whole tape */
  uint32_t window;     /* number of the segment that begins the window in memory */
  td_visits visits;    /* of the window; without a catalog, none is in memory */
  uint32_t *partners;  /* by visit: that of the other side, or TD_NONE */
  uint32_t *places;    /* by the node's row: scratch memory, all TD_NONE */
} td_diff_side;

/* td_diff_side_open lists the passes, and loads the window in which the tape begins. As
 * td_catalog_collect. Call td_diff_side_fini even after a failure. */
td_status td_diff_side_open(td_diff_side *side, td_tape *tape, td_error *error);
void td_diff_side_fini(td_diff_side *side);

/* td_diff_side_window returns the number of a pass's window. */
uint32_t td_diff_side_window(const td_diff_side *side, const td_diff_task *task);

/* td_diff_side_load makes sure that the pass's window is in memory, instead of the one before. */
td_status td_diff_side_load(td_diff_side *side, const td_diff_task *task, td_error *error);

/* td_diff_side_hash sets the hash of each pass. It goes through all windows. */
td_status td_diff_side_hash(td_diff_side *side, td_error *error);
