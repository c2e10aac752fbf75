/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From far away: every node a rectangle in the colour of its state, every edge a thin line. Cairo
 * draws them in large batches; a picture of many nodes does without cairo. */
#include "engine/base/alloc.h"
#include "ui/draw/raster.h"
#include "ui/draw/scene.h"

#include <math.h>

enum { BATCH = 1000, MANY = 4000 };

static void
flush_edges(const td_scene_draw *draw, bool moved) {
  td_colour colour = moved ? draw->theme->node_fill[TD_NODE_done] : draw->theme->line;
  td_theme_source(draw->cr, td_colour_fade(colour, moved ? 0.8 : 1));
  cairo_stroke(draw->cr);
}

/* 0: not to be drawn; 1: still to move; 2: moved. Edges that are led around would cover everything
 * else. */
static uint8_t *
classify_edges(td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  uint8_t *classes = TD_NEW_N(uint8_t, scene->n_edges);
  double least = 1.5 / draw->view->scale;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    const td_scene_edge *edge = &scene->edges[i];
    if (scene->layout->route[i] == TD_ROUTE_AROUND) {
      draw->n_edges_hidden++;
      continue;
    }
    if (edge->right - edge->left + edge->bottom - edge->top < least) continue;
    if (!td_scene_sees(draw, edge->left, edge->top, edge->right, edge->bottom)) continue;
    /* Figures are of the whole pass: under them no edge has moved. */
    classes[i] = !draw->view->overlay && td_scene_edge_moved(draw, i) ? 2 : 1;
  }
  return classes;
}

static void
draw_edges(const td_scene_draw *draw, const uint8_t *classes, bool moved) {
  const td_graph_scene *scene = draw->scene;
  const td_layout *layout = scene->layout;
  uint32_t n = 0;
  cairo_set_line_width(draw->cr, TD_MAX(1.6, 0.8 / draw->view->scale));
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    if (classes[i] != (moved ? 2 : 1)) continue;
    uint32_t first = layout->first_point[i];
    cairo_move_to(draw->cr, layout->points[first].x, layout->points[first].y);
    for (uint32_t k = first + 1; k < layout->first_point[i + 1]; k++)
      cairo_line_to(draw->cr, layout->points[k].x, layout->points[k].y);
    if (++n % BATCH == 0) flush_edges(draw, moved);
  }
  flush_edges(draw, moved);
}

/* Rectangles of one colour. Those of a later paint lie over those of an earlier one. */
typedef struct paint {
  td_colour colour;
  bool lively; /* drawn larger */
} paint;

#define LIVELY_HEAT 0.5
enum { HEATS = 16, PAINTS_MAX = 32, NOT_SEEN = PAINTS_MAX };

typedef struct painting {
  paint paints[PAINTS_MAX];
  uint8_t n_paints;
  uint8_t *of_node; /* (owned) the paint, or NOT_SEEN */
} painting;

static td_colour
far_colour(const td_scene_draw *draw, td_node_state state) {
  if (state == TD_NODE_waiting || state == TD_NODE_created || state == TD_NODE_absent)
    return td_colour_mix(draw->theme->card, draw->theme->node_fill[state], 0.45);
  return draw->theme->node_fill[state];
}

/* What matters more lies over what matters less. */
static const td_node_state painting_order[] = {TD_NODE_absent,   TD_NODE_created, TD_NODE_waiting,
                                               TD_NODE_released, TD_NODE_skipped, TD_NODE_done,
                                               TD_NODE_captured, TD_NODE_partial, TD_NODE_queued,
                                               TD_NODE_running,  TD_NODE_failed};

static uint8_t
paint_of_state(td_node_state state) {
  uint8_t i = 0;
  while (i + 1u < TD_N_ELEMENTS(painting_order) && painting_order[i] != state)
    i++;
  return i;
}

static void
mix_paints(const td_scene_draw *draw, painting *self) {
  if (draw->view->overlay) {
    self->n_paints = HEATS + 1; /* the first: no figure */
    self->paints[0] = (paint){draw->theme->line, false};
    for (int i = 1; i <= HEATS; i++) {
      double heat = (i - 1) / (HEATS - 1.0);
      self->paints[i] =
          (paint){td_colour_mix(draw->theme->line, draw->theme->hot, heat), heat > LIVELY_HEAT};
    }
    return;
  }
  self->n_paints = TD_N_ELEMENTS(painting_order);
  for (uint8_t i = 0; i < self->n_paints; i++) {
    td_node_state state = painting_order[i];
    bool lively = state == TD_NODE_running || state == TD_NODE_queued || state == TD_NODE_failed;
    self->paints[i] = (paint){far_colour(draw, state), lively};
  }
}

static uint8_t
paint_of(const td_scene_draw *draw, uint32_t i) {
  const td_overlay_value *heat = td_scene_heat(draw, i);
  if (heat) return (uint8_t)(1 + lround(heat->heat * (HEATS - 1)));
  return draw->view->overlay ? 0 : paint_of_state(td_scene_state(draw, i));
}

/* A rectangle is never smaller than a pixel. */
static void
draw_paint(td_scene_draw *draw, const painting *self, uint8_t number) {
  const td_graph_scene *scene = draw->scene;
  bool lively = self->paints[number].lively;
  double least = (lively ? 3 : 1) / draw->view->scale, grow = lively ? 1.5 / draw->view->scale : 0;
  uint32_t n = 0;
  td_theme_source(draw->cr, self->paints[number].colour);
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    if (self->of_node[i] != number) continue;
    td_box box = td_scene_box(scene, i);
    cairo_rectangle(draw->cr, box.x - grow, box.y - grow, TD_MAX(box.width + 2 * grow, least),
                    TD_MAX(box.height + 2 * grow, least));
    draw->n_shown++;
    if (++n % BATCH == 0) cairo_fill(draw->cr);
  }
  cairo_fill(draw->cr);
}

static void
draw_anomalies(const td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  for (uint32_t i = 0; i < scene->n_nodes && draw->state->header->n_anomalies; i++)
    if (td_scene_now(draw, i).anomaly)
      td_shape_diamond(draw->cr, scene->layout->x[i], scene->layout->y[i], 7 / draw->view->scale,
                       draw->theme->error);
}

void
td_scene_draw_far_ring(const td_scene_draw *draw, uint32_t i) {
  double x = draw->scene->layout->x[i], y = draw->scene->layout->y[i];
  double r = 9 / draw->view->scale;
  td_theme_source(draw->cr, draw->theme->accent);
  cairo_set_line_width(draw->cr, 2 / draw->view->scale);
  td_shape_rounded(draw->cr, (td_box){x - r, y - r, 2 * r, 2 * r}, r / 2);
  cairo_stroke(draw->cr);
}

static void
draw_by_cairo(td_scene_draw *draw, const painting *painting, const uint8_t *classes) {
  draw_edges(draw, classes, false);
  draw_edges(draw, classes, true);
  for (uint8_t i = 0; i < painting->n_paints; i++)
    draw_paint(draw, painting, i);
}

static void
raster_edges(const td_scene_draw *draw, td_raster *raster, const uint8_t *classes, uint8_t class) {
  const td_graph_scene *scene = draw->scene;
  const td_layout *layout = scene->layout;
  double scale = draw->view->scale;
  td_colour colour = class == 2 ? draw->theme->node_fill[TD_NODE_done] : draw->theme->line;
  colour = td_colour_mix(draw->theme->background, colour, 0.7);
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    if (classes[i] != class) continue;
    for (uint32_t k = layout->first_point[i] + 1; k < layout->first_point[i + 1]; k++) {
      td_layout_point a = layout->points[k - 1], b = layout->points[k];
      td_raster_line(raster, (a.x - draw->left) * scale, (a.y - draw->top) * scale,
                     (b.x - draw->left) * scale, (b.y - draw->top) * scale, colour);
    }
  }
}

static void
raster_nodes(td_scene_draw *draw, td_raster *raster, const painting *painting, uint8_t number) {
  const td_graph_scene *scene = draw->scene;
  double scale = draw->view->scale, grow = painting->paints[number].lively ? 1.5 : 0;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    if (painting->of_node[i] != number) continue;
    td_box box = td_scene_box(scene, i);
    td_raster_rectangle(raster, (box.x - draw->left) * scale - grow,
                        (box.y - draw->top) * scale - grow, box.width * scale + 2 * grow,
                        box.height * scale + 2 * grow, painting->paints[number].colour);
    draw->n_shown++;
  }
}

/* Into an image of its own in pixels; false if there is no memory for it. */
static bool
draw_by_raster(td_scene_draw *draw, const painting *painting, const uint8_t *classes) {
  td_raster raster;
  if (!td_raster_init(&raster, (int)ceil(draw->view->width), (int)ceil(draw->view->height),
                      draw->theme->background))
    return false;
  raster_edges(draw, &raster, classes, 1);
  raster_edges(draw, &raster, classes, 2);
  for (uint8_t i = 0; i < painting->n_paints; i++)
    raster_nodes(draw, &raster, painting, i);
  cairo_save(draw->cr);
  cairo_translate(draw->cr, draw->left, draw->top);
  cairo_scale(draw->cr, 1 / draw->view->scale, 1 / draw->view->scale);
  td_raster_show(&raster, draw->cr);
  cairo_restore(draw->cr);
  td_raster_fini(&raster);
  return true;
}

static void
classify_nodes(const td_scene_draw *draw, painting *self) {
  const td_graph_scene *scene = draw->scene;
  self->of_node = TD_NEW_N(uint8_t, scene->n_nodes);
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    td_box box = td_scene_box(scene, i);
    bool seen = td_scene_sees(draw, box.x, box.y, box.x + box.width, box.y + box.height);
    self->of_node[i] = seen ? paint_of(draw, i) : NOT_SEEN;
  }
}

void
td_scene_draw_far(td_scene_draw *draw) {
  painting painting;
  uint8_t *classes = classify_edges(draw);
  mix_paints(draw, &painting);
  classify_nodes(draw, &painting);
  if (draw->scene->n_nodes <= MANY || !draw_by_raster(draw, &painting, classes))
    draw_by_cairo(draw, &painting, classes);
  td_scene_draw_path(draw);
  draw_anomalies(draw);
  free(painting.of_node);
  free(classes);
}
