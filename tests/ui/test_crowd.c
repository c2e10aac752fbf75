/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A hub with 10,000 edges: few of them are drawn, and the picture looks as if all were. */
#include "ui/draw/edge_crowd.h"

#include <cairo.h>
#include <glib.h>
#include <stdlib.h>

enum { N = 10000, WIDTH = 1600, HEIGHT = 400, GAP = 170, MOST_STROKES = 800 };

/* Edges from one node at (0, 0) to a row of nodes below it. */
typedef struct hub {
  td_layout layout;
  td_graph_scene scene;
  td_graph_view view;
  td_scene_draw draw;
  cairo_surface_t *surface;
} hub;

static void
set_up(hub *self, guint n) {
  *self = (hub){0};
  self->layout.n_edges = self->scene.n_edges = n;
  self->layout.points = g_new0(td_layout_point, 2 * n);
  self->layout.first_point = g_new0(uint32_t, n + 1);
  self->layout.route = g_new0(uint8_t, n);
  self->scene.edges = g_new0(td_scene_edge, n);
  for (guint i = 0; i < n; i++) {
    float x = ((float)i - (float)n / 2) * GAP;
    self->layout.points[2 * i + 1] = (td_layout_point){x, 120};
    self->layout.first_point[i + 1] = 2 * (i + 1);
    self->scene.edges[i] = (td_scene_edge){
        .edge = i, .to = i + 1, .left = MIN(x, 0), .right = MAX(x, 0), .bottom = 120};
  }
  self->scene.layout = &self->layout;
}

static void
look_at(hub *self, double centre_x, double scale) {
  self->view = (td_graph_view){
      .width = WIDTH, .height = HEIGHT, .centre_x = centre_x, .centre_y = 60, .scale = scale};
  self->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, WIDTH, HEIGHT);
  self->draw = (td_scene_draw){.scene = &self->scene,
                               .cr = cairo_create(self->surface),
                               .view = &self->view,
                               .theme = td_theme_default(false),
                               .left = centre_x - WIDTH / 2 / scale,
                               .right = centre_x + WIDTH / 2 / scale,
                               .top = 60 - HEIGHT / 2 / scale,
                               .bottom = 60 + HEIGHT / 2 / scale};
  cairo_translate(self->draw.cr, WIDTH / 2, HEIGHT / 2);
  cairo_scale(self->draw.cr, scale, scale);
  cairo_translate(self->draw.cr, -centre_x, -60);
}

static void
look_away(hub *self) {
  cairo_destroy(self->draw.cr);
  cairo_surface_destroy(self->surface);
}

static void
tear_down(hub *self) {
  g_free(self->layout.points);
  g_free(self->layout.first_point);
  g_free(self->layout.route);
  g_free(self->scene.edges);
}

/* Returns how many were drawn. */
static guint
draw_edges(hub *self, guint n_for_crowd) {
  td_edge_crowd crowd;
  guint n = 0;
  td_edge_crowd_init(&crowd, n_for_crowd);
  for (guint i = 0; i < self->scene.n_edges; i++) {
    if (!td_edge_crowd_take(&crowd, &self->draw, i)) continue;
    td_scene_draw_edge_over(&self->draw, i, (td_colour){0, 0, 0, 1}, 1.4);
    n++;
  }
  td_edge_crowd_fini(&crowd);
  cairo_surface_flush(self->surface);
  return n;
}

/* Pixels that one picture has ink in, and the other has not. */
static guint
count_different(cairo_surface_t *a, cairo_surface_t *b) {
  const guint8 *here = cairo_image_surface_get_data(a), *there = cairo_image_surface_get_data(b);
  int stride = cairo_image_surface_get_stride(a);
  guint n = 0;
  for (int i = 0; i < stride * HEIGHT; i++)
    n += abs(here[i] - there[i]) > 96;
  return n;
}

static void
test_hub(void) {
  static const double places[] = {0, 3000, -200 * GAP, 4900 * GAP}, scales[] = {0.3, 1};
  hub all, few;
  set_up(&all, N);
  set_up(&few, N);
  for (guint i = 0; i < G_N_ELEMENTS(places); i++)
    for (guint k = 0; k < G_N_ELEMENTS(scales); k++) {
      look_at(&all, places[i], scales[k]);
      look_at(&few, places[i], scales[k]);
      g_assert_cmpuint(draw_edges(&all, 1), ==, N);
      g_assert_cmpuint(draw_edges(&few, N), <, MOST_STROKES);
      g_assert_cmpuint(count_different(all.surface, few.surface), <, WIDTH * HEIGHT / 200);
      look_away(&all);
      look_away(&few);
    }
  tear_down(&all);
  tear_down(&few);
}

/* No edge of an ordinary graph is left out, even if it lies on another one. */
static void
test_few(void) {
  hub self;
  set_up(&self, 300);
  look_at(&self, 0, 0.3);
  g_assert_cmpuint(draw_edges(&self, 300), ==, 300);
  look_away(&self);
  tear_down(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/crowd/hub", test_hub);
  g_test_add_func("/ui/crowd/few", test_few);
  return g_test_run();
}
