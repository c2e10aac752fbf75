/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/edge_crowd.h"
#include "ui/geometry/curves.h"

#include <math.h>

enum { HIT_PIXELS = 6 };

static bool
has_run(uint32_t state) {
  return state == TD_NODE_running || state == TD_NODE_done || state == TD_NODE_released ||
         state == TD_NODE_captured || state == TD_NODE_failed;
}

static uint32_t
count_arrivals(const td_state *state, const td_task_now *task, const td_catalog_edge *edge) {
  uint32_t n = 0;
  for (uint32_t a = task->first_arrival; a != TD_NONE; a = td_state_arrival(state, a)->next)
    n += td_state_arrival(state, a)->from == edge->from &&
         td_state_arrival(state, a)->input_nr == edge->input_nr;
  return n;
}

/* Of edges between the same two ends, how many come before this one: x * x sends two gradients to
 * x. */
static uint32_t
count_twins_before(const td_catalog *catalog, const td_catalog_edge *edge) {
  uint32_t n_all, n = 0;
  const uint32_t *all = td_catalog_edges_between(catalog, edge->from, edge->to, &n_all);
  for (uint32_t i = 0; i < n_all; i++) {
    const td_catalog_edge *other = &catalog->edges[all[i]];
    n += other < edge && other->input_nr == edge->input_nr;
  }
  return n;
}

/* Its function has returned, but not all of its gradients have left. */
static bool
hands_on(const td_scene_draw *draw, uint32_t node) {
  uint32_t pass = draw->scene->graph_task, runner = td_scene_runner_of(draw, node);
  if (runner == TD_NONE) return false;
  const td_thread_now *thread = td_state_thread(draw->state, runner);
  return thread->node == node && (pass == TD_NONE || thread->graph_task == pass);
}

/* A node that is complete has everything that its users sent; one that is not, what lies in its
 * buffer. */
bool
td_scene_edge_moved(const td_scene_draw *draw, uint32_t i) {
  const td_scene_edge *edge = &draw->scene->edges[i];
  const td_catalog_edge *facts = &draw->scene->catalog->edges[edge->edge];
  uint32_t from = td_scene_state_of(draw, facts->from), to = td_scene_state_of(draw, facts->to);
  if (has_run(to) || to == TD_NODE_queued) return has_run(from);
  if ((to != TD_NODE_partial && to != TD_NODE_waiting) || !has_run(from)) return false;
  if (!hands_on(draw, facts->from)) return true;
  const td_task_now *task = td_state_task_find(draw->state, facts->to, draw->scene->graph_task);
  return task &&
         count_arrivals(draw->state, task, facts) > count_twins_before(draw->scene->catalog, facts);
}

static void
path_corner(cairo_t *cr, td_layout_point before, td_layout_point corner, td_layout_point after) {
  double in = hypot(corner.x - before.x, corner.y - before.y);
  double out = hypot(after.x - corner.x, after.y - corner.y), r = TD_MIN(9, TD_MIN(in, out) / 2);
  if (in < 0.01 || out < 0.01) return;
  double begin_x = corner.x + (before.x - corner.x) * r / in;
  double begin_y = corner.y + (before.y - corner.y) * r / in;
  double end_x = corner.x + (after.x - corner.x) * r / out;
  double end_y = corner.y + (after.y - corner.y) * r / out;
  cairo_line_to(cr, begin_x, begin_y);
  cairo_curve_to(cr, (begin_x + corner.x) / 2, (begin_y + corner.y) / 2, (end_x + corner.x) / 2,
                 (end_y + corner.y) / 2, end_x, end_y);
}

static bool
is_level(td_layout_point a, td_layout_point b) {
  return fabsf(a.y - b.y) < 0.01f && fabsf(a.x - b.x) > 0.01f;
}

/* Points of an edge; the last one a little before its end, where the arrow's head begins. */
static td_layout_point
point_of(const td_layout *layout, uint32_t edge, uint32_t k, float head) {
  td_layout_point point = layout->points[k];
  if (k + 1 == layout->first_point[edge + 1] && layout->route[edge] != TD_ROUTE_PORT)
    point.y += layout->points[k - 1].y > point.y ? head : -head;
  return point;
}

static void
path_to(cairo_t *cr, td_layout_point from, td_layout_point to, bool sideways) {
  double dx = to.x - from.x, dy = to.y - from.y;
  if (sideways)
    cairo_curve_to(cr, from.x + dx * 0.5, from.y, from.x + dx * 0.5, to.y, to.x, to.y);
  else if (fabs(dx) < 0.01 || fabs(dy) < 0.01)
    cairo_line_to(cr, to.x, to.y);
  else
    cairo_curve_to(cr, from.x, from.y + dy * 0.45, to.x, from.y + dy * 0.55, to.x, to.y);
}

static void
path_edge(cairo_t *cr, const td_layout *layout, uint32_t edge, float head) {
  uint32_t first = layout->first_point[edge], end = layout->first_point[edge + 1];
  td_layout_point last = layout->points[first];
  cairo_move_to(cr, last.x, last.y);
  for (uint32_t k = first + 1; k < end; k++) {
    td_layout_point here = point_of(layout, edge, k, head);
    if (k + 1 < end) {
      td_layout_point next = point_of(layout, edge, k + 1, head);
      if (is_level(last, here) != is_level(here, next) &&
          (is_level(last, here) || fabsf(last.x - here.x) < 0.01f) &&
          (is_level(here, next) || fabsf(next.x - here.x) < 0.01f)) {
        path_corner(cr, last, here, next);
        last = here;
        continue;
      }
    }
    path_to(cr, last, here, layout->route[edge] == TD_ROUTE_PORT);
    last = here;
  }
}

/* The arrow's head: downwards onto a node, upwards into a port that is reached from below. */
static void
draw_head(cairo_t *cr, const td_layout *layout, uint32_t edge) {
  td_layout_point tip = layout->points[layout->first_point[edge + 1] - 1];
  td_layout_point before = layout->points[layout->first_point[edge + 1] - 2];
  double back = before.y > tip.y ? 1 : -1;
  if (layout->route[edge] == TD_ROUTE_PORT) return;
  cairo_move_to(cr, tip.x, tip.y + back * 2.5);
  cairo_line_to(cr, tip.x - 4, tip.y + back * 11);
  cairo_line_to(cr, tip.x + 4, tip.y + back * 11);
  cairo_close_path(cr);
  cairo_fill(cr);
}

static td_colour
edge_colour(const td_scene_draw *draw, uint32_t i, bool moved) {
  td_colour colour = moved ? draw->theme->node_fill[TD_NODE_done] : draw->theme->line;
  if (draw->scene->layout->route[i] == TD_ROUTE_AROUND)
    colour = td_colour_fade(colour, draw->view->scale < td_scale_full ? 0.25 : 0.5);
  return colour;
}

static void
draw_edge(const td_scene_draw *draw, uint32_t i, td_colour colour, double width) {
  const td_layout *layout = draw->scene->layout;
  double least = 0.8 / draw->view->scale; /* never thinner than a good half pixel */
  td_theme_source(draw->cr, colour);
  cairo_set_line_width(draw->cr, TD_MAX(width, least));
  path_edge(draw->cr, layout, i, 9);
  cairo_stroke(draw->cr);
  if (!td_scene_is_far(draw->scene, draw->view->scale)) draw_head(draw->cr, layout, i);
}

/* An edge that is led around is shown where one of its ends is: elsewhere it would only pass by. */
static bool
is_seen(const td_scene_draw *draw, uint32_t i) {
  const td_scene_edge *edge = &draw->scene->edges[i];
  if (!td_scene_sees(draw, edge->left - 12, edge->top - 4, edge->right + 12, edge->bottom + 4))
    return false;
  if (draw->scene->layout->route[i] != TD_ROUTE_AROUND) return true;
  td_box from = td_scene_box(draw->scene, edge->from), to = td_scene_box(draw->scene, edge->to);
  return td_scene_sees(draw, from.x, from.y, from.x + from.width, from.y + from.height) ||
         td_scene_sees(draw, to.x, to.y, to.x + to.width, to.y + to.height);
}

static void
set_line_ends(const td_scene_draw *draw) {
  cairo_set_line_cap(draw->cr, CAIRO_LINE_CAP_BUTT);
  cairo_set_line_join(draw->cr, CAIRO_LINE_JOIN_ROUND);
}

/* Edges of a scene that are seen. */
typedef struct seen_edges {
  uint32_t *items; /* (owned) */
  uint32_t n, capacity;
} seen_edges;

static void
add_seen(seen_edges *self, uint32_t i) {
  TD_GROW(self->items, self->n, self->capacity);
  self->items[self->n++] = i;
}

static void
draw_seen(const td_scene_draw *draw, const seen_edges *seen, bool moved) {
  td_edge_crowd crowd;
  td_edge_crowd_init(&crowd, seen->n);
  for (uint32_t k = 0; k < seen->n; k++)
    if (td_edge_crowd_take(&crowd, draw, seen->items[k]))
      draw_edge(draw, seen->items[k], edge_colour(draw, seen->items[k], moved), moved ? 2 : 1.4);
  td_edge_crowd_fini(&crowd);
}

/* Edges that have moved lie over edges that have not. */
void
td_scene_draw_edges(td_scene_draw *draw) {
  seen_edges still = {0}, moved = {0};
  set_line_ends(draw);
  for (uint32_t i = 0; i < draw->scene->n_edges; i++)
    if (is_seen(draw, i)) add_seen(td_scene_edge_moved(draw, i) ? &moved : &still, i);
  draw_seen(draw, &still, false);
  draw_seen(draw, &moved, true);
  free(still.items);
  free(moved.items);
}

void
td_scene_draw_edges_of(const td_scene_draw *draw, uint32_t i) {
  const td_graph_scene *scene = draw->scene;
  td_edge_crowd crowd;
  seen_edges seen = {0};
  for (uint32_t k = 0; k < scene->n_edges; k++)
    if ((scene->edges[k].from == i || scene->edges[k].to == i) && is_seen(draw, k))
      add_seen(&seen, k);
  set_line_ends(draw);
  td_edge_crowd_init(&crowd, seen.n);
  for (uint32_t k = 0; k < seen.n; k++)
    if (td_edge_crowd_take(&crowd, draw, seen.items[k]))
      draw_edge(draw, seen.items[k], draw->theme->accent, 2.4);
  td_edge_crowd_fini(&crowd);
  free(seen.items);
}

void
td_scene_draw_edge_over(const td_scene_draw *draw, uint32_t i, td_colour colour, double width) {
  if (!is_seen(draw, i)) return;
  set_line_ends(draw);
  draw_edge(draw, i, colour, width);
}

void
td_scene_draw_selected_edge(const td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  if (!draw->view->selected_edge) return;
  set_line_ends(draw);
  for (uint32_t i = 0; i < scene->n_edges; i++)
    if (scene->edges[i].edge == draw->view->selected_edge - 1)
      draw_edge(draw, i, draw->theme->accent, 4);
}

static bool
is_near(const td_scene_edge *edge, double x, double y, double reach) {
  return x >= edge->left - reach && x <= edge->right + reach && y >= edge->top - reach &&
         y <= edge->bottom + reach;
}

uint32_t
td_graph_scene_hit_edge(const td_graph_scene *scene, const td_graph_view *view, double x,
                        double y) {
  double there_x = view->centre_x + (x - view->width / 2) / view->scale;
  double there_y = view->centre_y + (y - view->height / 2) / view->scale;
  double nearest = HIT_PIXELS / view->scale;
  uint32_t found = TD_NONE;
  if (td_scene_is_far(scene, view->scale) || y >= td_scene_legend_top(view)) return TD_NONE;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    if (!is_near(&scene->edges[i], there_x, there_y, nearest)) continue;
    double distance = td_curve_distance(scene->layout, i, there_x, there_y);
    if (distance > nearest) continue;
    nearest = distance;
    found = scene->edges[i].edge;
  }
  return found;
}

void
td_scene_draw_path(const td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  if (!draw->view->overlay || draw->view->overlay->kind != TD_OVERLAY_critical) return;
  set_line_ends(draw);
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    if (td_scene_is_step(draw, i) && is_seen(draw, i)) draw_edge(draw, i, draw->theme->hot, 4);
  }
}

/* The edge along which the current node got its newest gradient. */
static uint32_t
moving_edge(const td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  uint32_t node = draw->state->header->current_node;
  if (td_scene_find(scene, node) == TD_NONE) return TD_NONE;
  uint32_t state = td_state_pair(draw->state, node, scene->graph_task).state;
  if (state != TD_NODE_partial && state != TD_NODE_waiting && state != TD_NODE_queued)
    return TD_NONE;
  const td_task_now *task = td_state_task_find(draw->state, node, scene->graph_task);
  if (!task || task->first_arrival == TD_NONE) return TD_NONE;
  const td_arrival_now *newest = td_state_arrival(draw->state, task->first_arrival);
  uint32_t from = td_scene_find(scene, newest->from), to = td_scene_find(scene, node);
  bool block = from != TD_NONE && (scene->nodes[from].block || scene->nodes[to].block);
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    if (scene->edges[i].from != from || scene->edges[i].to != to) continue;
    uint32_t input_nr = scene->catalog->edges[scene->edges[i].edge].input_nr;
    if (block || input_nr == newest->input_nr) return i;
  }
  return TD_NONE;
}

static td_layout_point
point_along(const td_layout *layout, uint32_t edge, double share) {
  uint32_t first = layout->first_point[edge], end = layout->first_point[edge + 1];
  double total = 0;
  for (uint32_t k = first + 1; k < end; k++)
    total += hypot(layout->points[k].x - layout->points[k - 1].x,
                   layout->points[k].y - layout->points[k - 1].y);
  double left = total * share;
  for (uint32_t k = first + 1; k < end; k++) {
    td_layout_point a = layout->points[k - 1], b = layout->points[k];
    double length = hypot(b.x - a.x, b.y - a.y), t = length > 0 ? TD_MIN(left / length, 1) : 1;
    if (left > length && k + 1 < end) {
      left -= length;
      continue;
    }
    bool straight = fabsf(a.x - b.x) < 0.01f || fabsf(a.y - b.y) < 0.01f;
    double bent = straight ? t : t * t * (3 - 2 * t);
    return layout->route[edge] == TD_ROUTE_PORT
               ? (td_layout_point){(float)(a.x + (b.x - a.x) * t),
                                   (float)(a.y + (b.y - a.y) * bent)}
               : (td_layout_point){(float)(a.x + (b.x - a.x) * bent),
                                   (float)(a.y + (b.y - a.y) * t)};
  }
  return layout->points[end - 1];
}

/* A dot on its edge: the playhead stands at the event that moved the gradient. */
void
td_scene_draw_moving(td_scene_draw *draw) {
  uint32_t edge = moving_edge(draw);
  if (edge == TD_NONE) return;
  td_layout_point at = point_along(draw->scene->layout, edge, 0.5);
  double r = TD_MAX(5, 3.5 / draw->view->scale);
  for (int i = 2; i >= 0; i--) {
    td_theme_source(draw->cr, td_colour_fade(draw->theme->accent, i ? 0.18 : 1));
    cairo_arc(draw->cr, at.x, at.y, r * (1 + 0.6 * i), 0, 2 * M_PI);
    cairo_fill(draw->cr);
  }
}
