/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues at the playhead, a strip each, as tall as all strips need. Click selects, a
 * horizontal scroll pans. Main thread. */
#pragma once

#include "ui/widgets/base/canvas.h"

#define TD_TYPE_QUEUES_CANVAS (td_queues_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdQueuesCanvas, td_queues_canvas, TD, QUEUES_CANVAS, TdCanvas)

/* td_queues_canvas_set_short makes each strip one line, or a line and cards. */
void td_queues_canvas_set_short(TdQueuesCanvas *self, gboolean is_short);

/* td_queues_canvas_get_needed returns the height of all strips in pixels; 0 without a tape. */
int td_queues_canvas_get_needed(TdQueuesCanvas *self);
