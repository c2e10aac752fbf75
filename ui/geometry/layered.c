/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/layered.h"

#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <string.h>

static void
levels_init(td_levels *levels, const td_layout_graph *graph, const td_layout_options *options) {
  *levels = (td_levels){.graph = graph, .options = options};
  levels->level = TD_NEW_N(uint32_t, graph->n_nodes);
  levels->host = TD_NEW_N(uint32_t, graph->n_nodes);
  levels->main_child = TD_NEW_N(uint32_t, graph->n_nodes);
  levels->trunk = TD_NEW_N(uint8_t, graph->n_nodes);
  levels->route = TD_NEW_N(uint8_t, graph->n_edges);
  levels->first_dummy = TD_NEW_N(uint32_t, graph->n_edges);
  memset(levels->host, 0xff, graph->n_nodes * sizeof *levels->host);
}

static void
levels_fini(td_levels *levels) {
  void *owned[] = {levels->level,
                   levels->main_child,
                   levels->trunk,
                   levels->first_dummy,
                   levels->level_first,
                   levels->order,
                   levels->position,
                   levels->left,
                   levels->right,
                   levels->above,
                   levels->x,
                   levels->level_column,
                   levels->level_top,
                   levels->level_bottom,
                   levels->column_right,
                   levels->host,
                   levels->route};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
  td_adjacency_fini(&levels->down);
  td_adjacency_fini(&levels->up);
}

static void
place_nodes(const td_levels *levels, td_layout *layout) {
  for (uint32_t i = 0; i < levels->n_placed; i++) {
    uint32_t node = levels->order[i];
    if (node >= layout->n_nodes) continue;
    uint32_t l = levels->level[node];
    layout->x[node] = levels->x[node];
    layout->y[node] = (levels->level_top[l] + levels->level_bottom[l]) / 2;
    layout->column[node] = levels->level_column[l];
  }
}

/* Moves everything so that the picture begins at (0, 0), edges included. */
static void
set_extent(const td_levels *levels, td_layout *layout) {
  float left = 0, top = 0, right = 0, bottom = levels->column_height;
  for (uint32_t i = 0; i < levels->n_placed; i++) {
    uint32_t v = levels->order[i];
    right = TD_MAX(right, levels->x[v] + levels->right[v]);
  }
  for (uint32_t i = 0; i < layout->first_point[layout->n_edges]; i++) {
    left = TD_MIN(left, layout->points[i].x);
    right = TD_MAX(right, layout->points[i].x);
    top = TD_MIN(top, layout->points[i].y);
    bottom = TD_MAX(bottom, layout->points[i].y);
  }
  for (uint32_t i = 0; i < layout->first_point[layout->n_edges]; i++) {
    layout->points[i].x -= left;
    layout->points[i].y -= top;
  }
  for (uint32_t i = 0; i < layout->n_nodes; i++) {
    layout->x[i] -= left;
    layout->y[i] -= top;
  }
  layout->width = right - left;
  layout->height = bottom - top;
}

static void
take_results(td_levels *levels, td_layout *layout) {
  layout->layer = td_realloc(NULL, layout->n_nodes, sizeof *layout->layer);
  memcpy(layout->layer, levels->level, layout->n_nodes * sizeof *layout->layer);
  layout->host = levels->host;
  layout->route = levels->route;
  levels->host = NULL;
  levels->route = NULL;
}

td_layout *
td_layout_new(const td_layout_graph *graph, const td_layout_options *options) {
  td_levels levels;
  td_layout *layout = TD_NEW(td_layout);
  layout->n_nodes = graph->n_nodes;
  layout->n_edges = graph->n_edges;
  layout->x = TD_NEW_N(float, graph->n_nodes);
  layout->y = TD_NEW_N(float, graph->n_nodes);
  layout->column = TD_NEW_N(uint32_t, graph->n_nodes);
  layout->first_point = TD_NEW_N(uint32_t, (size_t)graph->n_edges + 1);
  levels_init(&levels, graph, options);
  td_levels_assign(&levels);
  td_levels_add_dummies(&levels);
  td_levels_sort(&levels);
  td_levels_measure(&levels);
  td_levels_spread(&levels);
  td_levels_straighten(&levels);
  td_levels_fold(&levels);
  layout->n_layers = levels.n_levels;
  layout->n_columns = levels.n_columns;
  layout->crossings = levels.crossings;
  place_nodes(&levels, layout);
  td_levels_place_ports(&levels, layout);
  td_levels_route(&levels, layout);
  set_extent(&levels, layout);
  take_results(&levels, layout);
  levels_fini(&levels);
  return layout;
}
