/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A small picture of the whole graph, in a corner of the canvas that shows a part of it. It marks
 * what the canvas shows; a drag moves that. It shows nothing if the canvas shows the whole graph.
 * It keeps its picture as pixels: a change of the state alone paints it anew a few times a second
 * at most. Main thread. */
#pragma once

#include "ui/widgets/graph/graph_canvas.h"

#define TD_TYPE_MINIMAP (td_minimap_get_type())
G_DECLARE_FINAL_TYPE(TdMinimap, td_minimap, TD, MINIMAP, GtkWidget)

/* td_minimap_set_canvas is called once. */
void td_minimap_set_canvas(TdMinimap *self, TdGraphCanvas *canvas);
