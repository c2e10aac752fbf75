/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The working data of one layout, which each step hands to the next. Vertices stand in levels: the
 * graph's nodes, then a dummy for each layer that an edge passes. Segments join neighbouring
 * levels. Private to ui/geometry. */
#pragma once

#include "ui/geometry/layout.h"

#include <stddef.h>

/* Neighbours of each vertex: targets[first[v]] .. targets[first[v + 1] - 1]. */
typedef struct td_adjacency {
  uint32_t *first, *targets; /* (owned) */
} td_adjacency;

typedef struct td_levels {
  const td_layout_graph *graph;
  const td_layout_options *options;
  uint32_t n_vertices, n_levels,
      n_placed;          /* n_placed: vertices that are in levels: all but ports */
  uint32_t *level;       /* [n_vertices] */
  uint32_t *host;        /* [n_nodes] for ports, else TD_LAYOUT_NONE */
  uint32_t *main_child;  /* [n_nodes] the next on the longest path down */
  uint8_t *trunk;        /* [n_nodes] on the longest path of all */
  uint8_t *route;        /* [n_edges] */
  uint32_t *first_dummy; /* [n_edges] its dummies have consecutive numbers */
  td_adjacency down, up; /* segments between neighbouring levels */
  uint32_t *level_first; /* [n_levels + 1] slices of order */
  uint32_t *order;       /* [n_placed] vertices by level, left to right */
  uint32_t *position;    /* [n_vertices] in its level */
  uint32_t widest;       /* greatest number of vertices in a level */
  uint64_t crossings;
  float *left, *right;             /* [n_vertices] extents from the middle, ports included */
  float *above;                    /* [n_nodes] half the height, ports included */
  float *x;                        /* [n_vertices] */
  uint32_t *level_column;          /* [n_levels] */
  float *level_top, *level_bottom; /* [n_levels] */
  uint32_t n_columns;
  float *column_right; /* [n_columns] where the gutter begins that follows a column */
  float column_height;
} td_levels;

/* td_adjacency_build makes a table from m pairs, keeping their order at each vertex. */
td_adjacency td_adjacency_build(uint32_t n, uint32_t m, const uint32_t *from, const uint32_t *to);
void td_adjacency_fini(td_adjacency *adjacency);

static inline uint32_t
td_degree(const td_adjacency *adjacency, uint32_t vertex) {
  return adjacency->first[vertex + 1] - adjacency->first[vertex];
}

static inline uint32_t
td_level_size(const td_levels *levels, uint32_t level) {
  return levels->level_first[level + 1] - levels->level_first[level];
}

/* td_levels_gap returns the least distance between the middles of two neighbours in a level. */
static inline float
td_levels_gap(const td_levels *levels, uint32_t left, uint32_t right) {
  bool real = left < levels->graph->n_nodes && right < levels->graph->n_nodes;
  float gap = real ? levels->options->gap_x : levels->options->gap_edge;
  return levels->right[left] + gap + levels->left[right];
}

/* A vertex with more segments on one side is a hub there. They are led along one line: a bundle. */
#define TD_HUB_SEGMENTS 12

/* td_levels_bundles tells whether the segment between two vertices is in a hub's bundle. */
static inline bool
td_levels_bundles(const td_levels *levels, uint32_t upper, uint32_t lower) {
  return td_degree(&levels->down, upper) > TD_HUB_SEGMENTS ||
         td_degree(&levels->up, lower) > TD_HUB_SEGMENTS;
}

/* td_levels_stays tells whether an edge leads to a port in the layer that it comes from. It needs
 * no gutter: it passes below that layer. */
static inline bool
td_levels_stays(const td_levels *levels, uint32_t edge) {
  uint32_t from = levels->graph->from[edge], to = levels->graph->to[edge];
  return levels->host[to] != TD_LAYOUT_NONE && levels->level[from] == levels->level[to];
}

/* The steps, in this order. */
void td_levels_assign(td_levels *levels);      /* layers.c: level, host, trunk, route */
void td_levels_add_dummies(td_levels *levels); /* dummies.c: vertices, segments, level_first */
void td_levels_sort(td_levels *levels);        /* ordering.c: order, position, crossings */
void td_levels_measure(td_levels *levels);     /* ports.c: left, right, above, ports included */
void td_levels_spread(td_levels *levels);      /* coordinates.c: x */
void td_levels_straighten(td_levels *levels);  /* blocks.c: chains exactly straight */
void td_levels_fold(td_levels *levels);        /* columns.c: columns, tops and bottoms; moves x */

/* td_levels_place_ports (ports.c) places ports beside their hosts; td_levels_route (routes.c)
 * writes the points of all edges. Both after the nodes' places are in layout. */
void td_levels_place_ports(const td_levels *levels, td_layout *layout);
void td_levels_route(const td_levels *levels, td_layout *layout);
