/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which part of a timeline a picture shows, and where a moment lies in it. Pure; any thread. */
#pragma once

#include "ui/geometry/time_cuts.h"

#include <stdint.h>

/* Pixels to the left and right of the time axis. */
enum { TD_TIMELINE_GUTTER = 132, TD_TIMELINE_RIGHT = 14 };

typedef struct td_timeline_view {
  double width, height;
  double from_ns, to_ns;    /* the visible span of time */
  double now_ns;            /* playhead */
  const td_time_cuts *cuts; /* (borrowed) what the axis leaves out, or NULL */
  double scroll_y;
  uint32_t selected; /* node, or TD_NONE */
  uint32_t sleeper;  /* 1 + the thread whose sleep is shown too, or 0 */
} td_timeline_view;

/* td_timeline_axis_width returns the pixels of the time axis, td_timeline_visible_ns the
 * nanoseconds that it shows: without cuts. Both are above 0. */
double td_timeline_axis_width(const td_timeline_view *view);
double td_timeline_visible_ns(const td_timeline_view *view);

/* td_timeline_time_at and td_timeline_x convert between pixels and nanoseconds in a view. */
double td_timeline_time_at(const td_timeline_view *view, double x);
double td_timeline_x(const td_timeline_view *view, double ns);
