/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The chain back from a moment to its cause, over the picture of a graph: the edges between its
 * nodes, a dashed line where no edge leads, and the number of each step. */
#include "engine/base/alloc.h"
#include "ui/draw/scene.h"

#include <math.h>
#include <stdlib.h>

/* Numbers are as large as on a card, and from further away as large as can be read. */
enum { BADGE = 10, MOST_BADGE = 16, LEAST_PIXELS = 8 };

/* By scene node: 1 + its first place on the way, or 0. */
static uint32_t *
list_places(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  uint32_t *places = TD_NEW_N(uint32_t, draw->scene->n_nodes);
  for (uint32_t i = 0; i < view->n_chain; i++) {
    uint32_t found = td_scene_find(draw->scene, view->way[i].node);
    if (found != TD_NONE && !places[found]) places[found] = i + 1;
  }
  return places;
}

/* What has been walked already stands out. */
static td_colour
colour_at(const td_scene_draw *draw, uint32_t place) {
  bool is_walked = place < draw->view->chain_present;
  return td_colour_mix(draw->theme->hot, draw->theme->background, is_walked ? 0 : 0.45);
}

/* Gradients go from a later place to the one before. It notes which places an edge leads to. */
static void
draw_edges(const td_scene_draw *draw, const uint32_t *places, bool *is_joined) {
  const td_graph_scene *scene = draw->scene;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    uint32_t from = places[scene->edges[i].from], to = places[scene->edges[i].to];
    if (!from || !to || (from != to + 1 && to != from + 1)) continue;
    uint32_t place = TD_MIN(from, to) - 1;
    is_joined[place] = true;
    td_scene_draw_edge_over(draw, i, colour_at(draw, place), 4);
  }
}

/* From the middle of a card to its rim, towards another one. */
static td_layout_point
rim(const td_scene_draw *draw, uint32_t node, double dx, double dy) {
  td_box box = td_scene_box(draw->scene, node);
  double across = fabs(dx) > 0.01 ? box.width / 2 / fabs(dx) : 1;
  double down = fabs(dy) > 0.01 ? box.height / 2 / fabs(dy) : 1;
  double share = TD_MIN(1, TD_MIN(across, down));
  return (td_layout_point){(float)(draw->scene->layout->x[node] + dx * share),
                           (float)(draw->scene->layout->y[node] + dy * share)};
}

static void
draw_jump(const td_scene_draw *draw, uint32_t place) {
  static const double dashes[] = {7, 5};
  uint32_t a = td_scene_find(draw->scene, draw->view->way[place].node);
  uint32_t b = td_scene_find(draw->scene, draw->view->way[place + 1].node);
  if (a == TD_NONE || b == TD_NONE) return;
  const td_layout *layout = draw->scene->layout;
  double dx = layout->x[b] - layout->x[a], dy = layout->y[b] - layout->y[a];
  td_layout_point from = rim(draw, a, dx, dy), to = rim(draw, b, -dx, -dy);
  cairo_save(draw->cr);
  cairo_set_dash(draw->cr, dashes, 2, 0);
  cairo_set_line_width(draw->cr, TD_MAX(2.5, 1 / draw->view->scale));
  td_theme_source(draw->cr, colour_at(draw, place));
  cairo_move_to(draw->cr, from.x, from.y);
  cairo_line_to(draw->cr, to.x, to.y);
  cairo_stroke(draw->cr);
  cairo_restore(draw->cr);
}

void
td_scene_draw_chain(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  if (!view->n_chain) return;
  uint32_t *places = list_places(draw);
  bool *is_joined = TD_NEW_N(bool, view->n_chain);
  draw_edges(draw, places, is_joined);
  for (uint32_t i = 0; i + 1 < view->n_chain; i++)
    if (!is_joined[i]) draw_jump(draw, i);
  free(is_joined);
  free(places);
}

/* The selected node has a ring already. */
static void
draw_ring(const td_scene_draw *draw, td_box box) {
  td_box around = {box.x - 3, box.y - 3, box.width + 6, box.height + 6};
  td_shape_rounded(draw->cr, around, 11);
  td_theme_source(draw->cr, draw->theme->hot);
  cairo_set_line_width(draw->cr, 2 / TD_MIN(draw->view->scale, 1));
  cairo_stroke(draw->cr);
}

static void
draw_node(const td_scene_draw *draw, const td_chain_node *node) {
  uint32_t found = td_scene_find(draw->scene, node->node);
  if (found == TD_NONE) return;
  td_box box = td_scene_box(draw->scene, found);
  if (!td_scene_sees(draw, box.x - 12, box.y - 12, box.x + box.width, box.y + box.height)) return;
  if (node->node != draw->view->selected) draw_ring(draw, box);
  if (draw->view->scale < td_scale_modules) return;
  double size = TD_MIN(MOST_BADGE, TD_MAX(BADGE, ceil(LEAST_PIXELS / draw->view->scale)));
  char *number = td_format("%u", node->number);
  td_shape_badge(draw->cr, draw->labels, number, size, box.x - 1, box.y, draw->theme->hot);
  free(number);
}

/* A node that the way passes twice has the number of the first time, which is drawn last. */
void
td_scene_draw_chain_nodes(const td_scene_draw *draw) {
  for (uint32_t i = draw->view->n_chain; i-- > 0;)
    draw_node(draw, &draw->view->way[i]);
}
