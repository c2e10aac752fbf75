/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/graph_moves.h"

#include <math.h>

static const double least_scale = 0.01, most_scale = 4;
/* Below smallest_fit, boxes have no readable name: begin at readable_scale near the action instead
 * of fitting all. */
static const double smallest_fit = 0.42, readable_scale = 0.85;
/* The graph's pane of a window of 1280 by 800 pixels, the least text to read there, and the text of
 * a card in scene units. */
static const double pane_width = 931, pane_height = 428, least_text = 9, card_text = 15;
/* So many cards are in the pane where a large graph opens. */
static const uint32_t small_graph = 60;
static const double edge_pixels = 60;
/* The view follows if a node comes nearer to the rim than this share of the pane. */
static const double rim = 0.16;

static double
clamp(double value, double least, double most) {
  return fmin(fmax(value, least), most);
}

void
td_graph_view_fit(td_graph_view *view, const td_graph_scene *scene, double room) {
  if (view->height <= 4 * room) room = 0;
  view->height -= room;
  td_graph_scene_fit(scene, view);
  view->height += room;
  view->centre_y += room / 2 / view->scale;
}

bool
td_graph_scene_reads_whole(const td_graph_scene *scene) {
  td_graph_view view = {.width = pane_width, .height = pane_height};
  td_graph_scene_fit(scene, &view);
  return td_graph_scene_n_nodes(scene) <= small_graph || view.scale * card_text >= least_text;
}

/* Keeps the view over the scene: no half of the pane is empty while there is graph to show. */
static double
within(double centre, double seen, double extent) {
  double margin = seen / 2 - edge_pixels;
  return extent <= 2 * margin ? extent / 2 : clamp(centre, margin, extent - margin);
}

void
td_graph_view_go_home(td_graph_view *view, const td_graph_scene *scene, uint32_t node,
                      double room) {
  double x, y, width, height;
  td_graph_view_fit(view, scene, room);
  if (view->scale >= smallest_fit) return;
  td_graph_scene_size(scene, &width, &height);
  view->scale = fmin(readable_scale, fmax(smallest_fit, view->width / width));
  if (!td_graph_scene_place(scene, node, &x, &y)) return;
  view->centre_x = within(x, view->width / view->scale, width);
  view->centre_y = within(y, view->height / view->scale, height);
}

bool
td_graph_view_shows_all(const td_graph_view *view, const td_graph_scene *scene) {
  double half_x = view->width / 2 / view->scale, half_y = view->height / 2 / view->scale;
  double width, height;
  td_graph_scene_size(scene, &width, &height);
  return view->centre_x - half_x <= 0 && view->centre_x + half_x >= width &&
         view->centre_y - half_y <= 0 && view->centre_y + half_y >= height;
}

/* Once the view must move at all, the node comes well inside, so that the next step need not move
 * it again. */
bool
td_graph_view_reveal(const td_graph_view *view, const td_graph_scene *scene, uint32_t node,
                     double *to_x, double *to_y) {
  double x, y;
  if (!td_graph_scene_place(scene, node, &x, &y) || td_graph_view_shows_all(view, scene))
    return false;
  double margin_x = view->width * (0.5 - rim) / view->scale;
  double margin_y = view->height * (0.5 - rim) / view->scale;
  *to_x = clamp(view->centre_x, x - margin_x, x + margin_x);
  *to_y = clamp(view->centre_y, y - margin_y, y + margin_y);
  bool moves_x = *to_x != view->centre_x, moves_y = *to_y != view->centre_y;
  if (moves_x) *to_x = x;
  if (moves_y) *to_y = y;
  return moves_x || moves_y;
}

void
td_graph_view_zoom(td_graph_view *view, double factor, double x, double y) {
  double scale = clamp(view->scale * factor, least_scale, most_scale);
  double dx = x - view->width / 2, dy = y - view->height / 2;
  view->centre_x += dx / view->scale - dx / scale;
  view->centre_y += dy / view->scale - dy / scale;
  view->scale = scale;
}

void
td_graph_view_keep_in_sight(td_graph_view *view, const td_graph_scene *scene) {
  double width, height;
  td_graph_scene_size(scene, &width, &height);
  view->centre_x = clamp(view->centre_x, 0, width);
  view->centre_y = clamp(view->centre_y, 0, height);
}
