/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Going through a graph scene without a pointer: in which order, where to, and where that is in the
 * picture. Any thread. */
#pragma once

#include "ui/draw/graph_scene.h"

/* td_graph_scene_order returns all nodes of a scene, layer by layer in the direction of the
 * gradients, and each layer from left to right. The caller frees. */
uint32_t *td_graph_scene_order(const td_graph_scene *scene);

/* td_graph_scene_neighbour returns the node that a key leads to, or TD_NONE. Down (dy 1) follows an
 * edge to where the gradient goes, up (dy -1) an edge to where it comes from. Of many edges it is
 * the straightest that does not lead to a leaf. Right and left (dx 1, -1) stay in the layer. */
uint32_t td_graph_scene_neighbour(const td_graph_scene *scene, uint32_t node, int dx, int dy);

/* td_graph_scene_extent writes where a node is in a view: left, top, width, height. False if it is
 * not in the scene. */
bool td_graph_scene_extent(const td_graph_scene *scene, const td_graph_view *view, uint32_t node,
                           double extent[4]);
