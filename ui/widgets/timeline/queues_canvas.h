/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ready queues at the playhead, a strip each, as tall as all strips need. Click selects, a
 * horizontal scroll pans. Main thread. */
#pragma once

#include "ui/widgets/base/canvas.h"

#define TD_TYPE_QUEUES_CANVAS (td_queues_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdQueuesCanvas, td_queues_canvas, TD, QUEUES_CANVAS, TdCanvas)
