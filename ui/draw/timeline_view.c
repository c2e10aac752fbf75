/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline_view.h"

#include "engine/base/alloc.h"

double
td_timeline_axis_width(const td_timeline_view *view) {
  return TD_MAX(view->width - TD_TIMELINE_GUTTER - TD_TIMELINE_RIGHT, 1);
}

double
td_timeline_visible_ns(const td_timeline_view *view) {
  return TD_MAX(view->to_ns - view->from_ns, 1e-3);
}

double
td_timeline_time_at(const td_timeline_view *view, double x) {
  return view->from_ns +
         (x - TD_TIMELINE_GUTTER) / td_timeline_axis_width(view) * td_timeline_visible_ns(view);
}

double
td_timeline_x(const td_timeline_view *view, double ns) {
  return TD_TIMELINE_GUTTER +
         (ns - view->from_ns) / td_timeline_visible_ns(view) * td_timeline_axis_width(view);
}
