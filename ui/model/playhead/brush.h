/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The range of time that somebody brushed over. Lists show only what is in it. Another tape clears
 * it. The signal "changed" says that it is another one, or none. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#define TD_TYPE_BRUSH (td_brush_get_type())
G_DECLARE_FINAL_TYPE(TdBrush, td_brush, TD, BRUSH, GObject)

TdBrush *td_brush_new(TdPlayhead *playhead);

/* td_brush_set brushes from one time to another, whichever is earlier. td_brush_get returns FALSE
 * if there is no range. td_brush_clear returns whether there was one. */
void td_brush_set(TdBrush *self, double from_ns, double to_ns);
gboolean td_brush_get(TdBrush *self, double *from_ns, double *to_ns);
gboolean td_brush_clear(TdBrush *self);

/* td_brush_dup_text returns "12.9 µs from 20 ms on", or NULL if there is no range. */
char *td_brush_dup_text(TdBrush *self);
