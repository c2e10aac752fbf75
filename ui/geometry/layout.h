/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A layout: the places of a graph's nodes and the points of its edges. Beside it stand the graph
 * that a layout is made of and the options of the method. Plain data; any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TD_LAYOUT_NONE UINT32_MAX

typedef struct td_layout_graph {
  uint32_t n_nodes, n_edges;
  const uint32_t *from, *to;   /* [n_edges] nodes */
  const float *width, *height; /* [n_nodes] */
  const uint8_t *port;         /* [n_nodes] 1: may be a port; or NULL */
  const float *to_x; /* [n_edges] where an edge ends, from the middle of its node; or NULL */
} td_layout_graph;

typedef struct td_layout_options {
  float gap_x, gap_y;    /* between nodes, between layers */
  float gap_edge;        /* between an edge that passes and its neighbours */
  float gap_port;        /* between a user and its ports */
  float aspect;          /* fold until width / height is about this; 0: never fold */
  float fold_height;     /* what is less tall is not folded */
  uint32_t longest_span; /* edges over more layers are led around */
  uint32_t effort; /* millions of steps spent on fewer crossings, about; an eighth of it on large
                      graphs */
} td_layout_options;

extern const td_layout_options td_layout_defaults;

typedef enum td_route {
  TD_ROUTE_LAYERED, /* through the layers */
  TD_ROUTE_PORT,    /* from a user to the port beside it */
  TD_ROUTE_AROUND   /* long, against the direction, or to a port that is beside another user */
} td_route;

typedef struct td_layout_point {
  float x, y;
} td_layout_point;

typedef struct td_layout {
  uint32_t n_nodes, n_edges, n_layers, n_columns;
  float *x, *y;          /* (owned, as all below) [n_nodes] centres */
  uint32_t *layer;       /* [n_nodes] */
  uint32_t *column;      /* [n_nodes] */
  uint32_t *host;        /* [n_nodes] the user that a port is beside, or TD_LAYOUT_NONE */
  uint8_t *route;        /* [n_edges] td_route */
  uint32_t *first_point; /* [n_edges + 1] slices of points; an edge has at least two */
  td_layout_point
      *points; /* between two points with different x and y, an S curve with vertical ends */
  float width, height;
  uint64_t crossings; /* of edge segments between neighbouring layers */
} td_layout;

void td_layout_free(td_layout *layout);
