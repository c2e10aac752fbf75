/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recording, or a segment of it, over time. A thread has a lane with its activity, nodes as
 * spans, hooks and lock waits. A device has lanes with kernels. A queue shows its length as an
 * area. Marks and steps are flags on the axis; anomalies are red. The spans are collected once;
 * drawing costs pixels, not events. Pauses of a live session are left out of the axis. */
#pragma once

#include "engine/replay/replay.h"
#include "ui/draw/theme.h"
#include "ui/draw/timeline_view.h"

typedef struct td_timeline td_timeline;

/* Collecting the spans while somebody passes over a segment. td_timeline_collector_take takes each
 * event, in order. td_timeline_collector_end makes the timeline, and frees the collector.
 * td_timeline_collector_free does without. May run in a worker that owns the tape for that time. */
typedef struct td_timeline_collector td_timeline_collector;
td_timeline_collector *td_timeline_collector_new(td_tape *tape);
void td_timeline_collector_take(td_timeline_collector *collector, const td_any_event *event,
                                uint64_t seq);
td_timeline *td_timeline_collector_end(td_timeline_collector *collector, const td_catalog *catalog);
void td_timeline_collector_free(td_timeline_collector *collector);

/* td_timeline_new reads the tape once. May run in a worker that owns the tape for that time. */
td_status td_timeline_new(td_tape *tape, const td_catalog *catalog, td_timeline **timeline,
                          td_error *error);
void td_timeline_free(td_timeline *timeline);

/* td_timeline_extent writes the span of time in which something happens, with a little room on both
 * sides: what to show at first. */
void td_timeline_extent(const td_timeline *timeline, double *from_ns, double *to_ns);

/* td_timeline_cuts returns what the time axis leaves out: a person kept a live program waiting, and
 * nothing happened. A view of the timeline has them. They live as long as the timeline. */
const td_time_cuts *td_timeline_cuts(const td_timeline *timeline);

double td_timeline_height(const td_timeline *timeline);

/* td_timeline_draw paints the recording; what lies after the playhead is paler. The picture has no
 * selection and no playhead. td_timeline_draw_over paints these two on a picture of the same
 * view. */
void td_timeline_draw(td_timeline *timeline, cairo_t *cr, const td_timeline_view *view,
                      const td_theme *theme, td_label_cache *labels);
void td_timeline_draw_over(td_timeline *timeline, cairo_t *cr, const td_timeline_view *view,
                           const td_theme *theme, td_label_cache *labels);

/* td_timeline_draw_range paints a range of time that somebody brushed over, on a picture. */
void td_timeline_draw_range(cairo_t *cr, const td_timeline_view *view, const td_theme *theme,
                            double from_ns, double to_ns);

/* A lane can be collapsed: then it is a thin line of its spans. td_timeline_lane_name returns a
 * name that the same lane of another segment has too; the caller frees it. td_timeline_title_at
 * returns the lane whose title is at a point, or SIZE_MAX. */
size_t td_timeline_n_lanes(const td_timeline *timeline);
char *td_timeline_lane_name(const td_timeline *timeline, size_t lane);
size_t td_timeline_title_at(const td_timeline *timeline, const td_timeline_view *view, double x,
                            double y);
void td_timeline_collapse(td_timeline *timeline, size_t lane, bool is_collapsed);

/* td_timeline_wait_text_at says of the wait at a point for what its thread waited, and whom for:
 * who had the lock, pushed the task, or came last; NULL if there is none. The caller frees.
 * td_timeline_thread_at returns the thread whose lane is at a point, or SIZE_MAX. */
size_t td_timeline_thread_at(const td_timeline *timeline, const td_timeline_view *view, double y);
char *td_timeline_wait_text_at(const td_timeline *timeline, const td_timeline_view *view, double x,
                               double y);

/* td_timeline_hit returns the node whose span is at a point, or TD_NONE. */
uint32_t td_timeline_hit(const td_timeline *timeline, const td_timeline_view *view, double x,
                         double y);
