/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole recording over time. Click or drag to go there, Shift+drag to brush, Ctrl+scroll to
 * zoom around the pointer. Shift+scroll moves along. W and S zoom around the playhead, A and D move
 * along. A double click shows everything again, and moves nothing. Main thread. */
#pragma once

#include "ui/model/playhead/bookmarks.h"
#include "ui/model/playhead/brush.h"
#include "ui/widgets/base/canvas.h"

#define TD_TYPE_TIMELINE_CANVAS (td_timeline_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdTimelineCanvas, td_timeline_canvas, TD, TIMELINE_CANVAS, TdCanvas)

/* td_timeline_canvas_set_bookmarks shows bookmarks on the axis. A click on one goes there. */
void td_timeline_canvas_set_bookmarks(TdTimelineCanvas *self, TdBookmarks *bookmarks);

/* td_timeline_canvas_set_brush shows a range of time. Shift and a drag make one. */
void td_timeline_canvas_set_brush(TdTimelineCanvas *self, TdBrush *brush);

/* td_timeline_canvas_takes tells whether a key without modifiers zooms or pans the timeline while
 * that has the focus: "w", "s", "a" and "d". */
gboolean td_timeline_canvas_takes(const char *key);
