/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The graph of the current backward pass. It follows the playhead. Drag or scroll to pan,
 * Ctrl+scroll or pinch to zoom, click to select a node or an edge. Control and a click on a second
 * node show the paths between both. A double click or Enter opens a folded block. Down
 * follows the gradient along an edge, Up goes back, Ctrl and Left or Right stay in the layer. The
 * signal "node-clicked" (guint node) says that somebody clicked a node, selected or not. Main
 * thread. */
#pragma once

#include "ui/draw/graph_view.h"
#include "ui/model/document/fold_choice.h"
#include "ui/model/document/overlay_choice.h"
#include "ui/model/document/subset_choice.h"
#include "ui/model/live/stop_list.h"
#include "ui/model/playhead/shown_chain.h"
#include "ui/widgets/base/canvas.h"

#define TD_TYPE_GRAPH_CANVAS (td_graph_canvas_get_type())
G_DECLARE_FINAL_TYPE(TdGraphCanvas, td_graph_canvas, TD, GRAPH_CANVAS, TdCanvas)

/* td_graph_canvas_get_overlay_choice returns what colours the nodes. The canvas keeps it at the
 * pass shown. */
TdOverlayChoice *td_graph_canvas_get_overlay_choice(TdGraphCanvas *self);

/* td_graph_canvas_set_hides_counts hides how many gradients have come to each node, while a
 * question asks for that. */
void td_graph_canvas_set_hides_counts(TdGraphCanvas *self, gboolean hides);

/* td_graph_canvas_set_chain gives the canvas the chain to draw. Without, it draws none. */
void td_graph_canvas_set_chain(TdGraphCanvas *self, TdShownChain *way);

/* td_graph_canvas_set_stops marks the nodes to stop at. */
void td_graph_canvas_set_stops(TdGraphCanvas *self, TdStopList *stops);

/* td_graph_canvas_set_lone marks the nodes that another graph beside this one lacks. The array must
 * live until the next call. */
void td_graph_canvas_set_lone(TdGraphCanvas *self, const uint32_t *nodes, uint32_t n);

/* td_graph_canvas_get_subset_choice returns which part of the graph is shown. The canvas keeps it
 * at the pass shown. When the part goes, the view is as it was before. */
TdSubsetChoice *td_graph_canvas_get_subset_choice(TdGraphCanvas *self);

/* td_graph_canvas_get_fold_choice returns how the graph is folded. The canvas keeps it at the pass
 * shown. */
TdFoldChoice *td_graph_canvas_get_fold_choice(TdGraphCanvas *self);

/* What a small picture beside the canvas needs to know. The signal "view-changed" says that the
 * canvas shows another scene, another state, another selection or another part of the scene, or has
 * another size. td_graph_canvas_get_view returns NULL before there is a scene; both results are
 * borrowed until the signal. td_graph_canvas_get_scene_number returns another number for each
 * scene. */
td_graph_scene *td_graph_canvas_get_scene(TdGraphCanvas *self);
guint td_graph_canvas_get_scene_number(TdGraphCanvas *self);
const td_graph_view *td_graph_canvas_get_view(TdGraphCanvas *self);

/* td_graph_canvas_shows_all tells whether the whole scene is in view. Only if there is a view. */
gboolean td_graph_canvas_shows_all(TdGraphCanvas *self);

/* td_graph_canvas_centre brings a point of the scene into the middle. */
void td_graph_canvas_centre(TdGraphCanvas *self, double x, double y);

/* td_graph_canvas_set_covered says how much of the upper right corner something else covers, in
 * units. */
void td_graph_canvas_set_covered(TdGraphCanvas *self, double width, double bottom);

/* td_graph_canvas_zoom multiplies the scale around the middle. */
void td_graph_canvas_zoom(TdGraphCanvas *self, double factor);

/* td_graph_canvas_fit shows the whole graph, and keeps showing it while the pane changes its size.
 */
void td_graph_canvas_fit(TdGraphCanvas *self);
