/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <string.h>

static int64_t
span_of(const td_levels *levels, uint32_t edge) {
  return (int64_t)levels->level[levels->graph->to[edge]] - levels->level[levels->graph->from[edge]];
}

/* Dummies may outnumber nodes and edges only so far; beyond, fewer long edges go through the
 * layers. */
static uint64_t
count_dummies(td_levels *levels, int64_t longest) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < levels->graph->n_edges; i++) {
    if (levels->route[i] != TD_ROUTE_LAYERED) continue;
    int64_t span = span_of(levels, i);
    if (span <= longest) n += (uint64_t)TD_MAX(span, 1) - 1;
  }
  return n;
}

static uint32_t
choose_routes(td_levels *levels) {
  const td_layout_graph *graph = levels->graph;
  int64_t longest = TD_MAX(levels->options->longest_span, 1u);
  uint64_t most = 4 * ((uint64_t)graph->n_nodes + graph->n_edges) + 1000, n;
  while ((n = count_dummies(levels, longest)) > most && longest > 1)
    longest /= 2;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    int64_t span = span_of(levels, i);
    if (levels->route[i] == TD_ROUTE_LAYERED && (span < 1 || span > longest))
      levels->route[i] = TD_ROUTE_AROUND;
  }
  return (uint32_t)n;
}

static void
add_segments(td_levels *levels, uint32_t n_dummies) {
  const td_layout_graph *graph = levels->graph;
  size_t room = (size_t)graph->n_edges + n_dummies;
  uint32_t *from = TD_NEW_N(uint32_t, room), *to = TD_NEW_N(uint32_t, room);
  uint32_t n = 0, dummy = graph->n_nodes;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    if (levels->route[i] != TD_ROUTE_LAYERED) continue;
    uint32_t span = (uint32_t)span_of(levels, i), last = graph->from[i];
    levels->first_dummy[i] = dummy;
    for (uint32_t k = 1; k < span; k++, dummy++) {
      levels->level[dummy] = levels->level[graph->from[i]] + k;
      from[n] = last;
      to[n++] = dummy;
      last = dummy;
    }
    from[n] = last;
    to[n++] = graph->to[i];
  }
  levels->down = td_adjacency_build(levels->n_vertices, n, from, to);
  levels->up = td_adjacency_build(levels->n_vertices, n, to, from);
  free(from);
  free(to);
}

static void
count_levels(td_levels *levels) {
  levels->level_first = TD_NEW_N(uint32_t, (size_t)levels->n_levels + 1);
  for (uint32_t v = 0; v < levels->n_vertices; v++) {
    if (v < levels->graph->n_nodes && levels->host[v] != TD_LAYOUT_NONE) continue;
    levels->level_first[levels->level[v] + 1]++;
    levels->n_placed++;
  }
  for (uint32_t l = 0; l < levels->n_levels; l++) {
    levels->widest = TD_MAX(levels->widest, levels->level_first[l + 1]);
    levels->level_first[l + 1] += levels->level_first[l];
  }
}

void
td_levels_add_dummies(td_levels *levels) {
  uint32_t n_dummies = choose_routes(levels);
  levels->n_vertices = levels->graph->n_nodes + n_dummies;
  levels->level = td_realloc(levels->level, levels->n_vertices, sizeof *levels->level);
  add_segments(levels, n_dummies);
  count_levels(levels);
}
