/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the view of a scene moves: where it begins, how it zooms, and where it goes so that a node is
 * seen. Pure functions; width and height of the view are set. */
#pragma once

#include "ui/draw/graph_scene.h"

/* td_graph_view_fit shows the whole scene, with so much room left below, in pixels. A view too low
 * for that leaves none. */
void td_graph_view_fit(td_graph_view *view, const td_graph_scene *scene, double room);

/* td_graph_scene_reads_whole tells whether the texts of a scene's cards have at least 9 pixels
 * where the graph's pane shows all of it, in a window of 1280 by 800 pixels. The pane at hand does
 * not matter: a tape opens alike in every window. A scene of at most 60 nodes is taken to be
 * readable. */
bool td_graph_scene_reads_whole(const td_graph_scene *scene);

/* td_graph_view_go_home shows the whole scene if its names can be read then. Of a larger scene it
 * shows the place around a node, or the middle if the scene does not have the node. */
void td_graph_view_go_home(td_graph_view *view, const td_graph_scene *scene, uint32_t node,
                           double room);

/* td_graph_view_shows_all tells whether the whole scene is in view. */
bool td_graph_view_shows_all(const td_graph_view *view, const td_graph_scene *scene);

/* td_graph_view_reveal writes the centre at which a node is well inside. It returns false if the
 * view may stay: it shows the node well inside, or all, or the scene does not have the node. */
bool td_graph_view_reveal(const td_graph_view *view, const td_graph_scene *scene, uint32_t node,
                          double *to_x, double *to_y);

/* td_graph_view_zoom multiplies the scale, within limits. The point of the scene under (x, y) stays
 * where it is. */
void td_graph_view_zoom(td_graph_view *view, double factor, double x, double y);

/* td_graph_view_keep_in_sight brings a part of the scene back into the middle, however far somebody
 * moved the view. */
void td_graph_view_keep_in_sight(td_graph_view *view, const td_graph_scene *scene);
