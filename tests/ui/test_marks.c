/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What marks edges and what lies outside of the picture of a graph. */
#include "tests/ui/picture_fixture.h"
#include "ui/geometry/beyond.h"

#include <math.h>

enum { WIDTH = 900, HEIGHT = 700, REACH = 12 };

/* No point of the frame is nearer. */
static void
test_beyond(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(3);
  for (int i = 0; i < 2000; i++) {
    double left = g_rand_double_range(random, -50, 50), top = g_rand_double_range(random, -50, 50);
    td_frame frame = {left, top, left + g_rand_double_range(random, 1, 200),
                      top + g_rand_double_range(random, 1, 200)};
    double x = g_rand_double_range(random, -400, 400), y = g_rand_double_range(random, -400, 400);
    double at_x, at_y;
    td_beyond_place(frame, x, y, &at_x, &at_y);
    double distance = hypot(x - at_x, y - at_y);
    g_assert_true(at_x >= frame.left && at_x <= frame.right);
    g_assert_true(at_y >= frame.top && at_y <= frame.bottom);
    for (int k = 0; k < 20; k++) {
      double other_x = g_rand_double_range(random, frame.left, frame.right);
      double other_y = g_rand_double_range(random, frame.top, frame.bottom);
      g_assert_cmpfloat(hypot(x - other_x, y - other_y), >=, distance - 1e-9);
    }
  }
}

static uint32_t
find_arrow(picture_fixture *self, const td_graph_view *view) {
  for (double y = 0; y < HEIGHT; y += 12)
    for (double x = 0; x < WIDTH; x += 16) {
      uint32_t node = td_graph_scene_hit_arrow(self->scene, view, self->labels, x, y);
      if (node != TD_NONE) return node;
    }
  return TD_NONE;
}

/* An arrow tells of each node outside, and of none inside. */
static void
test_arrows(void) {
  picture_fixture self;
  uint32_t n_arrows = 0;
  picture_fixture_init(&self, 200);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  view.scale = 1;
  for (uint32_t i = 0; i < self.catalog->n_nodes; i += 5) {
    double x, y;
    if (!td_graph_scene_place(self.scene, i, &x, &y)) continue;
    view.selected = i;
    gboolean inside =
        fabs(x - view.centre_x) < view.width / 2 && fabs(y - view.centre_y) < view.height / 2 - 40;
    gboolean outside = fabs(x - view.centre_x) > view.width / 2 + 300 ||
                       fabs(y - view.centre_y) > view.height / 2 + 60;
    uint32_t found = find_arrow(&self, &view);
    if (inside) g_assert_cmpuint(found, ==, TD_NONE);
    if (outside) g_assert_cmpuint(found, ==, i);
    n_arrows += outside;
    view.selected = TD_NONE;
    view.running = i + 1;
    if (outside) g_assert_cmpuint(find_arrow(&self, &view), ==, i);
    view.running = 0;
  }
  g_assert_cmpuint(n_arrows, >, 5);
  picture_fixture_fini(&self);
}

static cairo_surface_t *
paint_edge(picture_fixture *self, td_graph_view view, uint32_t edge) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(surface);
  view.selected_edge = edge + 1;
  td_graph_scene_draw_over(self->scene, cr, self->state, &view, td_theme_default(false),
                           self->labels);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  return surface;
}

static unsigned
ink(cairo_surface_t *surface, int x, int y) {
  const unsigned char *data = cairo_image_surface_get_data(surface);
  if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT) return 0;
  return data[y * cairo_image_surface_get_stride(surface) + 4 * x + 3];
}

static gboolean
has_ink_near(cairo_surface_t *surface, int x, int y, int reach) {
  for (int j = y - reach; j <= y + reach; j++)
    for (int i = x - reach; i <= x + reach; i++)
      if (ink(surface, i, j)) return TRUE;
  return FALSE;
}

/* Where an edge is painted, a click finds it or one that is painted there too. Where none is
 * painted, it finds none. */
static void
test_edges(void) {
  picture_fixture self;
  uint32_t n_hit = 0;
  picture_fixture_init(&self, 30);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  uint32_t n = self.catalog->n_edges;
  g_autofree cairo_surface_t **painted = g_new(cairo_surface_t *, n);
  for (uint32_t i = 0; i < n; i++)
    painted[i] = paint_edge(&self, view, i);
  for (int y = 0; y < HEIGHT - 60; y += 5)
    for (int x = 0; x < WIDTH; x += 5) {
      uint32_t found = td_graph_scene_hit_edge(self.scene, &view, x + 0.5, y + 0.5);
      gboolean near = FALSE, under = FALSE;
      for (uint32_t i = 0; i < n; i++) {
        under = under || ink(painted[i], x, y) == 255;
        near = near || (!near && has_ink_near(painted[i], x, y, REACH));
      }
      if (under) g_assert_cmpuint(found, <, n);
      if (!near) g_assert_cmpuint(found, ==, TD_NONE);
      if (found != TD_NONE) g_assert_true(has_ink_near(painted[found], x, y, REACH));
      n_hit += found != TD_NONE;
    }
  g_assert_cmpuint(n_hit, >, 100);
  for (uint32_t i = 0; i < n; i++)
    cairo_surface_destroy(painted[i]);
  view.scale = 0.1;
  g_assert_cmpuint(td_graph_scene_hit_edge(self.scene, &view, WIDTH / 2.0, HEIGHT / 2.0), ==,
                   TD_NONE);
  picture_fixture_fini(&self);
}

/* Counts the ink; none of it may be far from a place. */
static guint
count_ink_at(cairo_surface_t *surface, double x, double y, double reach) {
  guint n = 0;
  for (int j = 0; j < HEIGHT; j++)
    for (int i = 0; i < WIDTH; i++) {
      if (!ink(surface, i, j)) continue;
      g_assert_cmpfloat(hypot(i - x, j - y), <, reach);
      n++;
    }
  return n;
}

/* A stop marks its node alone, and can be seen from any distance. So does a node that another graph
 * lacks. */
static void
check_marks(gboolean is_stop) {
  enum { CARD = 180 };
  picture_fixture self;
  guint n_seen = 0;
  picture_fixture_init(&self, 30);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  double fits = view.scale;
  for (uint32_t node = 0; node < self.catalog->n_nodes; node++) {
    double x, y;
    if (!td_graph_scene_place(self.scene, node, &x, &y)) continue;
    view.scale = node % 3 == 0 ? fits : node % 3 == 1 ? 0.15 : 0.02;
    *(is_stop ? &view.stops : &view.lone) = &node;
    *(is_stop ? &view.n_stops : &view.n_lone) = 1;
    double at_x = (x - view.centre_x) * view.scale + WIDTH / 2.0;
    double at_y = (y - view.centre_y) * view.scale + HEIGHT / 2.0;
    cairo_surface_t *surface = paint_edge(&self, view, UINT32_MAX);
    g_assert_cmpuint(count_ink_at(surface, at_x, at_y, CARD * view.scale + 12), >,
                     is_stop ? 20 : 15);
    cairo_surface_destroy(surface);
    n_seen++;
  }
  g_assert_cmpuint(n_seen, >, 10);
  picture_fixture_fini(&self);
}

static void
test_stops(void) {
  check_marks(TRUE);
}

static void
test_lone(void) {
  check_marks(FALSE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/marks/beyond", test_beyond);
  g_test_add_func("/ui/marks/arrows", test_arrows);
  g_test_add_func("/ui/marks/edges", test_edges);
  g_test_add_func("/ui/marks/stops", test_stops);
  g_test_add_func("/ui/marks/lone", test_lone);
  return g_test_run();
}
