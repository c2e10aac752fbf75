/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ports stand to the right of their user in a grid, read downwards. */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <math.h>

typedef struct grid {
  uint32_t n, n_rows;
  float width, height; /* of a cell */
} grid;

static const float row_gap = 4;

static uint32_t
rows_for(uint32_t n) {
  return n <= 4 ? n : (uint32_t)ceil(sqrt(2.0 * n));
}

static uint32_t
grid_columns(const grid *cells) {
  return (cells->n + cells->n_rows - 1) / TD_MAX(cells->n_rows, 1u);
}

static grid *
grids_new(const td_levels *levels) {
  const td_layout_graph *graph = levels->graph;
  grid *grids = TD_NEW_N(grid, graph->n_nodes);
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    if (levels->host[i] == TD_LAYOUT_NONE) continue;
    grid *cells = &grids[levels->host[i]];
    cells->n++;
    cells->width = TD_MAX(cells->width, graph->width[i]);
    cells->height = TD_MAX(cells->height, graph->height[i]);
  }
  for (uint32_t i = 0; i < graph->n_nodes; i++)
    grids[i].n_rows = rows_for(grids[i].n);
  return grids;
}

void
td_levels_measure(td_levels *levels) {
  const td_layout_graph *graph = levels->graph;
  grid *grids = grids_new(levels);
  levels->left = TD_NEW_N(float, levels->n_vertices);
  levels->right = TD_NEW_N(float, levels->n_vertices);
  levels->above = TD_NEW_N(float, graph->n_nodes);
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    const grid *cells = &grids[i];
    float stack = (float)cells->n_rows * (cells->height + row_gap) - row_gap;
    levels->left[i] = levels->right[i] = graph->width[i] / 2;
    levels->above[i] = TD_MAX(graph->height[i], cells->n ? stack : 0) / 2;
    if (cells->n)
      levels->right[i] += (float)grid_columns(cells) * (cells->width + levels->options->gap_port);
  }
  free(grids);
}

void
td_levels_place_ports(const td_levels *levels, td_layout *layout) {
  const td_layout_graph *graph = levels->graph;
  grid *grids = grids_new(levels);
  uint32_t *n_placed = TD_NEW_N(uint32_t, graph->n_nodes);
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    uint32_t host = levels->host[i];
    if (host == TD_LAYOUT_NONE) continue;
    const grid *cells = &grids[host];
    uint32_t column = n_placed[host] / cells->n_rows, row = n_placed[host] % cells->n_rows;
    uint32_t n_rows = TD_MIN(cells->n_rows, cells->n - column * cells->n_rows);
    float left = layout->x[host] + graph->width[host] / 2 + levels->options->gap_port;
    n_placed[host]++;
    layout->x[i] =
        left + (float)column * (cells->width + levels->options->gap_port) + graph->width[i] / 2;
    layout->y[i] =
        layout->y[host] + ((float)row - ((float)n_rows - 1) / 2) * (cells->height + row_gap);
    layout->column[i] = layout->column[host];
  }
  free(n_placed);
  free(grids);
}
