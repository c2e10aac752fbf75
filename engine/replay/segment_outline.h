/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The outline of a tape that is cut into segments: what readers ask of the tape as a whole. It has
 * threads and queues, passes, steps and problems. Of the first problems it has what led to them,
 * and the nodes that they name. It also has a coarse summary. Private to engine/replay. One thread.
 */
#pragma once

#include "engine/replay/cause_list.h"
#include "engine/replay/outline_stretches.h"

/* So many nodes get their names in an outline, and so many events tell of them. */
#define TD_OUTLINE_NODES 1000
#define TD_OUTLINE_NAMES (8 * TD_OUTLINE_NODES)

typedef struct td_segment_outline {
  td_keyframe events;
  td_number_map lengths, most; /* of queues, now and ever */
  td_number_map named;         /* nodes that problems name */
  td_keyframe names;           /* what declares them */
  td_cause_list causes;        /* of problems */
  td_outline_stretches stretches;
} td_segment_outline;

/* td_segment_outline_begin gets the number of events of the tape. td_segment_outline_take takes
 * each event of the tape, in order. td_segment_outline_explain takes them once more, after the last
 * one: only then it is known which nodes and writes problems ask for. */
void td_segment_outline_begin(td_segment_outline *outline, uint64_t n_events);
void td_segment_outline_take(td_segment_outline *outline, const td_event *event, uint64_t seq);
void td_segment_outline_explain(td_segment_outline *outline, const td_event *event, uint64_t seq);

/* td_segment_outline_has_problems tells whether there is something to explain. */
bool td_segment_outline_has_problems(const td_segment_outline *outline);

/* td_segment_outline_make completes the outline. It returns it as a list of events, which the
 * caller owns. */
td_keyframe td_segment_outline_make(td_segment_outline *outline);
void td_segment_outline_fini(td_segment_outline *outline);

/* td_is_in_table tells whether the table of contents has an event: strings, and those of the kind
 * `known`. */
static inline bool
td_is_in_table(const td_event *event) {
  return event->kind == TD_EVENT_string || event->kind == TD_EVENT_known;
}
