/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bookmarks over the picture of a timeline: a ribbon on the axis, and a thin line through the
 * lanes. Any thread that owns the cairo context. */
#pragma once

#include "ui/draw/theme.h"
#include "ui/draw/timeline_view.h"

#include <cairo.h>
#include <stddef.h>

/* td_timeline_draw_bookmark paints the one of a moment, if it is in view. */
void td_timeline_draw_bookmark(cairo_t *cr, const td_timeline_view *view, const td_theme *theme,
                               double time_ns);

/* td_timeline_is_on_bookmark tells whether a point is on the ribbon of a moment. */
bool td_timeline_is_on_bookmark(const td_timeline_view *view, double time_ns, double x, double y);
