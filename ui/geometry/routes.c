/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Edges as points. Where several leave or enter a node they spread out in the order of where they
 * come from, except that one which is exactly straight stays straight. Those of a hub leave or
 * enter it at one place, and share a line between the layers. */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <math.h>

typedef struct router {
  const td_levels *levels;
  td_layout *layout;
  float *leave, *enter;  /* [n_edges] sideways shift at the start and the end */
  uint32_t *n_in_gutter; /* [n_columns] edges led through so far */
  size_t n, capacity;
} router;

/* An end of an edge: where its other side lies, for sorting. */
typedef struct edge_end {
  uint32_t node, edge;
  float place, other;
} edge_end;

static void
add_point(router *self, float x, float y) {
  td_layout *layout = self->layout;
  TD_GROW(layout->points, self->n, self->capacity);
  layout->points[self->n++] = (td_layout_point){x, y};
}

static int
compare_ends(const void *a, const void *b) {
  const edge_end *left = a, *right = b;
  if (left->node != right->node) return left->node < right->node ? -1 : 1;
  if (left->place != right->place) return left->place < right->place ? -1 : 1;
  if (left->other != right->other) return left->other < right->other ? -1 : 1;
  return left->edge < right->edge ? -1 : 1;
}

/* Ends that share a place fan out around the straight one, or around the middle where none is
 * straight. */
static void
fan_out(const edge_end *ends, uint32_t n, float room, float *shift) {
  float step = TD_MIN(12, room / (float)TD_MAX(n, 1u)), middle = ((float)n - 1) / 2, nearest = 1;
  for (uint32_t i = 0; i < n; i++) {
    float distance = fabsf(ends[i].other - ends[i].place);
    if (distance >= nearest) continue;
    nearest = distance;
    middle = (float)i;
  }
  for (uint32_t i = 0; i < n; i++)
    shift[ends[i].edge] = ((float)i - middle) * step;
}

static float
end_place(const td_levels *levels, uint32_t edge, bool entering) {
  const td_layout_graph *graph = levels->graph;
  if (!entering) return levels->x[graph->from[edge]];
  return levels->x[graph->to[edge]] + (graph->to_x ? graph->to_x[edge] : 0);
}

/* The vertex next to an end of a layered edge. */
static uint32_t
next_vertex(const td_levels *levels, uint32_t edge, bool entering) {
  const td_layout_graph *graph = levels->graph;
  uint32_t from = graph->from[edge], to = graph->to[edge],
           span = levels->level[to] - levels->level[from];
  if (span == 1) return entering ? from : to;
  return levels->first_dummy[edge] + (entering ? span - 2 : 0);
}

static void
shift_ends(router *self, bool entering, float *shift) {
  const td_levels *levels = self->levels;
  const td_layout_graph *graph = levels->graph;
  edge_end *ends = TD_NEW_N(edge_end, graph->n_edges);
  uint32_t n = 0;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    if (levels->route[i] != TD_ROUTE_LAYERED) continue;
    uint32_t node = entering ? graph->to[i] : graph->from[i];
    float other = levels->x[next_vertex(levels, i, entering)];
    ends[n++] = (edge_end){node, i, end_place(levels, i, entering), other};
  }
  qsort(ends, n, sizeof *ends, compare_ends);
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1;
         end < n && ends[end].node == ends[i].node && ends[end].place == ends[i].place;)
      end++;
    const td_adjacency *side = entering ? &levels->up : &levels->down;
    bool is_hub = td_degree(side, ends[i].node) > TD_HUB_SEGMENTS;
    if (end - i > 1 && !is_hub)
      fan_out(ends + i, end - i, graph->width[ends[i].node] * 0.7f, shift);
  }
  free(ends);
}

static float
lane_in_gutter(router *self, uint32_t column) {
  return self->levels->column_right[column] + 22 + 6 * (float)(self->n_in_gutter[column]++ % 10);
}

/* From the foot of a column to the head of the next, by the gutter between them. */
static void
add_fold(router *self, float from_x, float to_x, uint32_t column) {
  const td_levels *levels = self->levels;
  float lane = lane_in_gutter(self, column), shift = (lane - levels->column_right[column]) * 0.5f;
  float low = levels->column_height + 8 + shift, high = -8 - shift;
  add_point(self, from_x, low);
  add_point(self, lane, low);
  add_point(self, lane, high);
  add_point(self, to_x, high);
}

/* The line of a hub. Hubs beside each other have lines at other heights. */
static void
add_bundle(router *self, float from_x, float to_x, uint32_t upper, uint32_t lower) {
  const td_levels *levels = self->levels;
  uint32_t l = levels->level[upper];
  bool is_upper = td_degree(&levels->down, upper) > TD_HUB_SEGMENTS;
  float share = 0.3f + 0.1f * (float)(levels->position[is_upper ? upper : lower] % 5);
  float y = levels->level_bottom[l] + share * (levels->level_top[l + 1] - levels->level_bottom[l]);
  if (from_x == to_x) return;
  add_point(self, from_x, y);
  add_point(self, to_x, y);
}

static void
add_layered(router *self, uint32_t edge) {
  const td_levels *levels = self->levels;
  const td_layout_graph *graph = levels->graph;
  uint32_t from = graph->from[edge], to = graph->to[edge],
           last_column = levels->level_column[levels->level[from]], last = from;
  float x = levels->x[from] + self->leave[edge];
  add_point(self, x, self->layout->y[from] + graph->height[from] / 2);
  for (uint32_t l = levels->level[from] + 1; l <= levels->level[to]; l++) {
    bool end = l == levels->level[to];
    uint32_t dummy = levels->first_dummy[edge] + (l - levels->level[from] - 1);
    float next = end ? end_place(levels, edge, true) + self->enter[edge] : levels->x[dummy];
    uint32_t vertex = end ? to : dummy;
    if (levels->level_column[l] != last_column)
      add_fold(self, x, next, last_column);
    else if (td_levels_bundles(levels, last, vertex))
      add_bundle(self, x, next, last, vertex);
    last_column = levels->level_column[l];
    last = vertex;
    x = next;
    if (end) break;
    add_point(self, x, levels->level_top[l]);
    if (levels->level_bottom[l] > levels->level_top[l]) add_point(self, x, levels->level_bottom[l]);
  }
  add_point(self, x, self->layout->y[to] - graph->height[to] / 2);
}

static void
add_to_port(router *self, uint32_t edge) {
  const td_layout_graph *graph = self->levels->graph;
  const td_layout *layout = self->layout;
  uint32_t from = graph->from[edge], to = graph->to[edge];
  float reach = graph->height[from] / 2 - 8, dy = layout->y[to] - layout->y[from];
  add_point(self, layout->x[from] + graph->width[from] / 2,
            layout->y[from] + TD_MIN(TD_MAX(dy * 0.5f, -reach), reach));
  add_point(self, layout->x[to] - graph->width[to] / 2, layout->y[to]);
}

/* Where an edge that was led around comes in: from above to a node, from below to a port. */
static void
add_entry(router *self, uint32_t edge, float lane) {
  const td_levels *levels = self->levels;
  const td_layout_graph *graph = levels->graph;
  uint32_t to = graph->to[edge];
  float half = graph->height[to] / 2, y = self->layout->y[to];
  if (levels->host[to] == TD_LAYOUT_NONE) {
    float x = end_place(levels, edge, true);
    add_point(self, lane, y - half - 12);
    add_point(self, x, y - half - 12);
    add_point(self, x, y - half);
  } else {
    float x = self->layout->x[to], low = levels->level_bottom[levels->level[to]] + 12;
    add_point(self, lane, low);
    add_point(self, x, low);
    add_point(self, x, y + half);
  }
}

/* Out to the gutter, along it, and in again; to another column by the head of the picture. */
static void
add_around(router *self, uint32_t edge) {
  const td_levels *levels = self->levels;
  const td_layout_graph *graph = levels->graph;
  const td_layout *layout = self->layout;
  uint32_t from = graph->from[edge], a = layout->column[from], b = layout->column[graph->to[edge]];
  float x = layout->x[from] + graph->width[from] / 4, y = layout->y[from] + graph->height[from] / 2;
  add_point(self, x, y);
  if (td_levels_stays(levels, edge)) {
    add_entry(self, edge, x);
    return;
  }
  float lane = lane_in_gutter(self, a);
  add_point(self, x, y + 10);
  add_point(self, lane, y + 10);
  if (b != a && b != a + 1) {
    float far = lane_in_gutter(self, b), high = -16 - (lane - levels->column_right[a]) * 0.5f;
    add_point(self, lane, high);
    add_point(self, far, high);
    lane = far;
  }
  add_entry(self, edge, lane);
}

/* Points in the middle of a straight line say nothing. */
static void
drop_straight(router *self, size_t first) {
  td_layout_point *points = self->layout->points;
  size_t kept = first + 1;
  for (size_t i = first + 1; i < self->n; i++) {
    bool vertical =
        kept > first + 1 && points[kept - 1].x == points[i].x && points[kept - 2].x == points[i].x;
    if (vertical) kept--;
    points[kept++] = points[i];
  }
  self->n = kept;
}

void
td_levels_route(const td_levels *levels, td_layout *layout) {
  uint32_t n = levels->graph->n_edges;
  router self = {
      levels, layout, TD_NEW_N(float, n), TD_NEW_N(float, n), TD_NEW_N(uint32_t, levels->n_columns),
      0,      0};
  shift_ends(&self, false, self.leave);
  shift_ends(&self, true, self.enter);
  for (uint32_t i = 0; i < n; i++) {
    size_t first = self.n;
    layout->first_point[i] = (uint32_t)first;
    if (levels->route[i] == TD_ROUTE_LAYERED) add_layered(&self, i);
    if (levels->route[i] == TD_ROUTE_PORT) add_to_port(&self, i);
    if (levels->route[i] == TD_ROUTE_AROUND) add_around(&self, i);
    drop_straight(&self, first);
  }
  layout->first_point[n] = (uint32_t)self.n;
  free(self.leave);
  free(self.enter);
  free(self.n_in_gutter);
}
