/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people point at on the canvas of a graph, and what it tells of that. Main thread. */
#pragma once

#include "ui/model/document/fold_choice.h"
#include "ui/model/document/overlay_choice.h"
#include "ui/model/document/subset_choice.h"
#include "ui/widgets/base/canvas.h"

#define TD_GRAPH_BAR 40 /* units: the bar that names a part of the graph, above the legend */

/* td_graph_pointing_look sets what td_graph_scene_draw_over shows in a view: selection, marks, the
 * node that runs. */
void td_graph_pointing_look(TdCanvas *canvas, TdSubsetChoice *subset, td_graph_view *view);

/* td_graph_pointing_node_at returns the node at a point, or that to which an arrow there points, or
 * TD_NONE. The view is as td_graph_pointing_look left it. */
uint32_t td_graph_pointing_node_at(TdCanvas *canvas, const td_graph_scene *scene,
                                   const td_graph_view *view, double x, double y);

/* td_graph_pointing_select does what a click at a point means: it selects a node, an edge or
 * nothing, or shows the paths to the node. A click on a block selects its first
 * node, unless one in the block is selected. If the click was on an arrow, it returns the arrow's
 * node; else TD_NONE. */
uint32_t td_graph_pointing_select(TdCanvas *canvas, TdSubsetChoice *subset,
                                  const td_graph_scene *scene, const td_graph_view *view, double x,
                                  double y, GdkModifierType modifiers);

/* td_graph_pointing_dup_text describes selection and graph for screen readers. The scene may be
 * NULL. The caller frees. */
char *td_graph_pointing_dup_text(TdCanvas *canvas, TdSubsetChoice *subset, TdFoldChoice *folds,
                                 TdOverlayChoice *choice, const td_graph_scene *scene);
