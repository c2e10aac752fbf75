/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/graph_scene.h"

#include "engine/base/alloc.h"
#include "ui/draw/scene.h"

#include <math.h>

enum { MARGIN = 28 };

td_graph_scene *
td_graph_scene_new(const td_catalog *catalog, uint32_t graph_task) {
  return td_graph_scene_new_subset(catalog, graph_task, NULL, 0);
}

td_graph_scene *
td_graph_scene_new_subset(const td_catalog *catalog, uint32_t graph_task, const uint32_t *nodes,
                          uint32_t n) {
  td_graph_scene *scene = TD_NEW(td_graph_scene);
  td_graph_scene_init(scene, catalog, graph_task);
  td_scene_collect(scene, nodes, n);
  td_scene_finish(scene);
  return scene;
}

void
td_graph_scene_free(td_graph_scene *scene) {
  if (!scene) return;
  td_graph_scene_fini(scene);
  free(scene);
}

void
td_graph_scene_size(const td_graph_scene *scene, double *width, double *height) {
  *width = scene->layout->width;
  *height = scene->layout->height;
}

void
td_graph_scene_fit(const td_graph_scene *scene, td_graph_view *view) {
  double width = scene->layout->width + 2 * MARGIN, height = scene->layout->height + 2 * MARGIN;
  double below = view->width >= 420 && view->height >= 160 ? 44 : 0; /* for the legend */
  view->scale = TD_MIN(1.5, TD_MIN(view->width / width, (view->height - below) / height));
  view->scale = TD_MAX(view->scale, 1e-4);
  view->centre_x = scene->layout->width / 2;
  view->centre_y = scene->layout->height / 2 + below / 2 / view->scale;
}

uint32_t
td_graph_scene_n_nodes(const td_graph_scene *scene) {
  return scene->n_nodes;
}

uint32_t
td_graph_scene_node(const td_graph_scene *scene, uint32_t i) {
  return scene->nodes[i].node;
}

uint32_t
td_graph_scene_hit(const td_graph_scene *scene, const td_graph_view *view, double x, double y) {
  uint32_t caller;
  if (td_scene_hit_tower(scene, view, x, y, &caller)) return caller;
  double there_x = view->centre_x + (x - view->width / 2) / view->scale;
  double there_y = view->centre_y + (y - view->height / 2) / view->scale;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    td_box box = td_scene_box(scene, i);
    if (there_x >= box.x && there_x < box.x + box.width && there_y >= box.y &&
        there_y < box.y + box.height)
      return scene->nodes[i].node;
  }
  return TD_NONE;
}

bool
td_graph_scene_place(const td_graph_scene *scene, uint32_t node, double *x, double *y) {
  uint32_t found = td_scene_find(scene, node);
  if (found == TD_NONE) return false;
  *x = scene->layout->x[found];
  *y = scene->layout->y[found];
  return true;
}

static void
draw_ground(const td_scene_draw *draw) {
  td_theme_source(draw->cr, draw->theme->background);
  cairo_rectangle(draw->cr, 0, 0, draw->view->width, draw->view->height);
  cairo_fill(draw->cr);
}

/* Sets cairo to scene units; the caller saved it before. */
static void
enter_scene(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  cairo_translate(draw->cr, view->width / 2, view->height / 2);
  cairo_scale(draw->cr, view->scale, view->scale);
  cairo_translate(draw->cr, -view->centre_x, -view->centre_y);
}

static td_scene_draw
make_drawing(td_graph_scene *scene, cairo_t *cr, const td_state *state, const td_graph_view *view,
             const td_theme *theme, td_label_cache *labels) {
  double half_width = view->width / 2 / view->scale, half_height = view->height / 2 / view->scale;
  return (td_scene_draw){scene,
                         cr,
                         state,
                         view,
                         theme,
                         labels,
                         view->centre_x - half_width,
                         view->centre_y - half_height,
                         view->centre_x + half_width,
                         view->centre_y + half_height,
                         td_scene_pass_begun(scene, state),
                         td_scene_pass_goes_on(scene, state),
                         0,
                         0};
}

/* The rows of a scene are those of its catalog. A state of another segment has others. */
static bool
is_of_scene(const td_graph_scene *scene, const td_state *state) {
  return scene->catalog == state->catalog;
}

static void
draw_nothing(cairo_t *cr, const td_graph_view *view, const td_theme *theme) {
  draw_ground(&(td_scene_draw){.cr = cr, .view = view, .theme = theme});
}

void
td_graph_scene_draw(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                    const td_graph_view *view, const td_theme *theme, td_label_cache *labels) {
  if (!is_of_scene(scene, state)) {
    draw_nothing(cr, view, theme);
    return;
  }
  td_scene_draw draw = make_drawing(scene, cr, state, view, theme, labels);
  td_scene_find_totals(&draw);
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, view->width, view->height);
  cairo_clip(cr);
  draw_ground(&draw);
  cairo_save(cr);
  enter_scene(&draw);
  if (td_scene_is_far(scene, view->scale)) {
    td_scene_draw_far(&draw);
  } else {
    td_scene_draw_edges(&draw);
    td_scene_draw_path(&draw);
    td_scene_draw_nodes(&draw);
  }
  td_scene_draw_moving(&draw);
  cairo_restore(cr);
  if (view->scale < td_scene_scale_layers(scene)) td_scene_draw_layers(&draw);
  td_scene_draw_legend(&draw);
  td_scene_draw_tower(&draw);
  cairo_restore(cr);
}

void
td_graph_scene_draw_small(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                          const td_graph_view *view, const td_theme *theme) {
  if (!is_of_scene(scene, state)) {
    draw_nothing(cr, view, theme);
    return;
  }
  td_scene_draw draw = make_drawing(scene, cr, state, view, theme, NULL);
  td_scene_find_totals(&draw);
  cairo_save(cr);
  draw_ground(&draw);
  enter_scene(&draw);
  td_scene_draw_far(&draw);
  cairo_restore(cr);
}

static void
draw_selected(const td_scene_draw *draw, uint32_t i) {
  if (td_scene_is_far(draw->scene, draw->view->scale)) {
    td_scene_draw_far_ring(draw, i);
  } else {
    td_scene_draw_edges_of(draw, i);
    td_scene_draw_ring(draw, i, 1);
  }
}

/* From far away a mark is as large as can be seen. */
static void
draw_marks(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  bool far = td_scene_is_far(draw->scene, view->scale);
  double least = 4 / view->scale;
  td_theme_source(draw->cr, td_colour_fade(draw->theme->accent, 0.8));
  for (uint32_t i = 0; i < view->n_marked; i++) {
    uint32_t found = td_scene_find(draw->scene, view->marked[i]);
    if (found == TD_NONE) continue;
    td_box box = td_scene_box(draw->scene, found);
    if (!td_scene_sees(draw, box.x, box.y, box.x + box.width, box.y + box.height)) continue;
    if (far)
      cairo_rectangle(draw->cr, box.x, box.y, TD_MAX(box.width, least), TD_MAX(box.height, least));
    else
      td_scene_draw_ring(draw, found, 0.8);
  }
  if (far) cairo_fill(draw->cr);
}

/* Beside the middle of a node, where no edge comes. */
static void
draw_stop(const td_scene_draw *draw, td_box box) {
  double radius = TD_MAX(6, 3.5 / draw->view->scale);
  cairo_new_sub_path(draw->cr);
  cairo_arc(draw->cr, box.x, box.y + box.height / 2, radius, 0, 2 * M_PI);
  td_theme_source(draw->cr, draw->theme->background);
  cairo_set_line_width(draw->cr, radius / 2);
  cairo_stroke_preserve(draw->cr);
  td_theme_source(draw->cr, draw->theme->error);
  cairo_fill(draw->cr);
}

static void
draw_stops(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  for (uint32_t i = 0; i < view->n_stops; i++) {
    uint32_t found = td_scene_find(draw->scene, view->stops[i]);
    if (found == TD_NONE) continue;
    td_box box = td_scene_box(draw->scene, found);
    if (td_scene_sees(draw, box.x - 8, box.y, box.x + box.width, box.y + box.height))
      draw_stop(draw, box);
  }
}

/* The legend and the tower lie over the nodes, and so over what marks a node. */
void
td_graph_scene_draw_over(td_graph_scene *scene, cairo_t *cr, const td_state *state,
                         const td_graph_view *view, const td_theme *theme, td_label_cache *labels) {
  if (!is_of_scene(scene, state)) return;
  td_scene_draw draw = make_drawing(scene, cr, state, view, theme, labels);
  uint32_t selected = td_scene_find(scene, view->selected);
  uint32_t hovered = td_scene_find(scene, view->hovered);
  if (selected == TD_NONE && hovered == TD_NONE && !view->n_marked && !view->n_chain &&
      !view->n_stops && !view->n_lone && !view->selected_edge && !view->running)
    return;
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, view->width, td_scene_legend_top(view));
  cairo_clip(cr);
  enter_scene(&draw);
  td_scene_draw_lone(&draw);
  draw_marks(&draw);
  td_scene_draw_selected_edge(&draw);
  if (selected != TD_NONE) draw_selected(&draw, selected);
  td_scene_draw_chain(&draw);
  td_scene_draw_chain_nodes(&draw);
  draw_stops(&draw);
  if (hovered != TD_NONE && hovered != selected && !td_scene_is_far(scene, view->scale))
    td_scene_draw_ring(&draw, hovered, 0.5);
  cairo_restore(cr);
  td_scene_draw_tower(&draw);
  td_scene_draw_arrows(&draw);
}
