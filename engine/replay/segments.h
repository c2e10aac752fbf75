/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Segments]
 * A long tape is cut into segments, each of which can be replayed without those before it.
 *
 * A keyframe is a list of events outside the numbering of the segment:
 * - The events that declared what still lives, unchanged: nodes with edges, names and saved
 *   tensors; settings (engine/trace/keyframe.h).
 * - All threads, queues, devices and processes of the tape, also those that are over or to come.
 *   So all segments show the same lanes, with the same names.
 * - The names of its leaves that come after the segment (late_names.h).
 * - One event of the kinds node_now, queue_now, ... for each of these whose state is not that of
 *   its beginning. totals_now comes last.
 * So the catalog and apply.h read a keyframe as they read any event.
 *
 * A tape is cut before a pass, where no other pass is under way and no queue has a task. Then the
 * state is in nodes, queues and threads alone. If no such moment comes for long, it is cut where
 * the least is under way (cut_moments.h). Then pass_now, ran_now, entry_now and work_now tell what
 * goes on. The events that made a task tell it.
 *
 * A segment that begins in a pass has what ran in it before, with nodes that were freed since. One
 * that ends in a pass does not know the rest: its catalog has no end of the pass, and no nodes that
 * ran later.
 *
 * Nodes that were released, and passes that are over, do not come into a keyframe. So `state` does
 * not list them, and a segment's catalog does not have them. */
#pragma once

#include "engine/base/status.h"

#include <stdint.h>

#define TD_SEGMENT_EVENTS (UINT64_C(1) << 20)

/* td_segments_add does what is left to do with a tape that is over. It calls td_contents_add. Then
 * it cuts the tape into segments of at least so many events, usually TD_SEGMENT_EVENTS. It also
 * writes an outline of the tape. A tape that would be one segment is not cut, nor is one that
 * td_segment_writer_open refuses. It needs memory for a segment at a time. TD_IO and
 * TD_OUT_OF_MEMORY, as td_contents_add. Nobody else may write to the file. */
td_status td_segments_add(const char *path, uint64_t least_events, td_error *error);
