/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a long tape as a slim strip. Click or drag to go anywhere, also into another
 * segment; a click on a mark shows that problem. With the focus, arrow keys go a hundredth of the
 * tape, Page Up and Page Down a segment. Main thread. */
#pragma once

#include "ui/widgets/base/canvas.h"

#define TD_TYPE_STRIP_CANVAS (td_strip_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdStripCanvas, td_strip_canvas, TD, STRIP_CANVAS, TdCanvas)

/* td_strip_canvas_travelling_changed shows where the playhead is going. */
void td_strip_canvas_travelling_changed(TdStripCanvas *self);
