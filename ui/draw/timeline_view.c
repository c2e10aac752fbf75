/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline_view.h"

#include "engine/base/alloc.h"

double
td_timeline_axis_width(const td_timeline_view *view) {
  return TD_MAX(view->width - TD_TIMELINE_GUTTER - TD_TIMELINE_RIGHT, 1);
}

static double
place_of(const td_timeline_view *view, double ns) {
  return td_time_cuts_place(view->cuts, ns);
}

double
td_timeline_visible_ns(const td_timeline_view *view) {
  return TD_MAX(place_of(view, view->to_ns) - place_of(view, view->from_ns), 1e-3);
}

double
td_timeline_time_at(const td_timeline_view *view, double x) {
  double share = (x - TD_TIMELINE_GUTTER) / td_timeline_axis_width(view);
  double place = place_of(view, view->from_ns) + share * td_timeline_visible_ns(view);
  return td_time_cuts_time(view->cuts, place);
}

double
td_timeline_x(const td_timeline_view *view, double ns) {
  double share =
      (place_of(view, ns) - place_of(view, view->from_ns)) / td_timeline_visible_ns(view);
  return TD_TIMELINE_GUTTER + share * td_timeline_axis_width(view);
}
