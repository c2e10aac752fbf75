/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which part of a graph scene a picture shows, and which nodes the person points at. Plain data. */
#pragma once

#include "engine/profile/report/overlay.h"

#include <stdbool.h>
#include <stdint.h>

/* A node on the chain back from a moment to its cause, and the number that stands at it. */
typedef struct td_chain_node {
  uint32_t node, number;
} td_chain_node;

/* What part of the scene is shown and how. Scene units are pixels at scale 1. */
typedef struct td_graph_view {
  double width, height;      /* of the picture, pixels */
  double centre_x, centre_y; /* scene point in its middle */
  double scale;
  uint32_t selected, hovered; /* nodes or TD_NONE; for td_graph_scene_draw_over */
  uint32_t running;           /* 1 + a node that has just been popped, or 0; the same */
  uint32_t selected_edge;     /* 1 + an edge of the catalog, or 0; the same */
  const td_overlay *overlay;  /* (borrowed) what colours the nodes; NULL: their states */
  const char *overlay_note;   /* (borrowed) why it has no figures, or NULL */
  const uint32_t *marked;     /* (borrowed) [n_marked] nodes, for td_graph_scene_draw_over */
  uint32_t n_marked;
  const uint32_t *stops; /* (borrowed) [n_stops] nodes to stop at, for td_graph_scene_draw_over */
  uint32_t n_stops;
  const uint32_t *lone; /* (borrowed) [n_lone] nodes that the other side lacks; the same */
  uint32_t n_lone;
  const td_chain_node *way; /* (borrowed) [n_chain] back to a cause, for td_graph_scene_draw_over */
  uint32_t n_chain, chain_present;
  bool hides_counts;                    /* an open question asks how many gradients have come */
  double covered_width, covered_bottom; /* of the upper right corner: something lies over it */
  double covered_below;                 /* above the legend: the same */
} td_graph_view;
