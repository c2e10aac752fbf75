/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Segment: a stretch of a tape that can be read without what comes before it. A keyframe stands for
 * that: the events that say what lives where the segment begins. They keep the numbers that they
 * have on the tape. A tape that was not cut is one segment without a keyframe. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/keyframe.h"

/* Segments that no keyframe on the tape begins: the tape as a whole, and its outline. The outline
 * is a keyframe alone: passes, steps and problems of the whole tape, with its threads and queues.
 */
#define TD_SEGMENT_WHOLE UINT32_MAX
#define TD_SEGMENT_OUTLINE (UINT32_MAX - 1)

typedef struct td_segment {
  uint32_t number;
  uint64_t first, end;         /* its events */
  const td_keyframe *keyframe; /* (borrowed) NULL: the one on the tape */
} td_segment;

/* Gets an event of a keyframe, and its number on the tape. Anything but TD_OK ends the visit. */
typedef td_status (*td_keyframe_visitor)(const td_any_event *event, uint64_t seq, void *data);
