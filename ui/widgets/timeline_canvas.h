/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole recording over time. Click or drag to go there, Ctrl+scroll to zoom around the pointer.
 * Shift+scroll moves along, a double click shows everything again. Main thread. */
#pragma once

#include "ui/widgets/canvas.h"

#define TD_TYPE_TIMELINE_CANVAS (td_timeline_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdTimelineCanvas, td_timeline_canvas, TD, TIMELINE_CANVAS, TdCanvas)
