/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The strip of a whole tape: places on it, what it says of stretches, and its picture. */
#include "ui/draw/strip_picture.h"

#include <glib.h>
#include <string.h>

enum { WIDTH = 420, HEIGHT = 36, N_STRETCHES = 10, N_EVENTS = 1000, N_THREADS = 4 };

typedef struct Fixture {
  td_catalog outline;
  td_catalog_stretch stretches[N_STRETCHES];
  td_catalog_mention problems[3];
  td_strip_view view;
} Fixture;

/* Stretches of 100 events and 1000 ns. In stretch i, nodes run for i * 100 ns. */
static void
set_up(Fixture *self, gconstpointer data) {
  for (uint64_t i = 0; i < N_STRETCHES; i++)
    self->stretches[i] = (td_catalog_stretch){
        .end = 100 * (i + 1), .end_ns = 1000 * (i + 1), .busy_ns = 100 * i, .most = 1};
  const uint64_t seqs[] = {100, 500, 502};
  for (int i = 0; i < 3; i++)
    self->problems[i] = (td_catalog_mention){.seq = seqs[i], .kind = TD_EVENT_anomaly};
  self->outline = (td_catalog){
      .stretches = self->stretches, .n_stretches = N_STRETCHES, .n_threads = N_THREADS};
  self->outline.mentions[TD_LIST_problems] = (td_catalog_mentions){self->problems, 3};
  self->view = (td_strip_view){.width = WIDTH,
                               .height = HEIGHT,
                               .n_events = N_EVENTS,
                               .segment_first = 300,
                               .segment_end = 600,
                               .position = 350};
}

static void
tear_down(Fixture *self, gconstpointer data) {
}

static cairo_surface_t *
paint(const Fixture *self, bool over) {
  const td_theme *theme = td_theme_default(false);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(surface);
  td_strip_draw(&self->outline, cr, &self->view, theme);
  if (over) td_strip_draw_over(cr, &self->view, theme);
  g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  return surface;
}

static uint32_t
pixel(cairo_surface_t *surface, double x, int y) {
  const unsigned char *data = cairo_image_surface_get_data(surface);
  uint32_t value;
  size_t row = (size_t)y * (size_t)cairo_image_surface_get_stride(surface);
  memcpy(&value, data + row + 4 * (size_t)x, sizeof value);
  return value & 0xffffff;
}

/* How many pixels of a column look different in another picture. */
static int
count_changed(cairo_surface_t *one, cairo_surface_t *other, double x) {
  int n = 0;
  for (int y = 0; y < HEIGHT; y++)
    n += pixel(one, x, y) != pixel(other, x, y);
  return n;
}

static void
test_places(Fixture *self, gconstpointer data) {
  for (uint64_t position = 0; position <= N_EVENTS; position += 10) {
    double x = td_strip_x(&self->view, position);
    g_assert_cmpfloat(x, >=, 0);
    g_assert_cmpfloat(x, <=, WIDTH);
    g_assert_cmpuint(td_strip_position_at(&self->view, x), ==, position);
  }
  g_assert_cmpuint(td_strip_position_at(&self->view, -50), ==, 0);
  g_assert_cmpuint(td_strip_position_at(&self->view, 5000), ==, N_EVENTS);
}

static void
test_loads(Fixture *self, gconstpointer data) {
  g_assert_cmpfloat_with_epsilon(td_strip_load(&self->outline, 0, 100), 0, 1e-9);
  g_assert_cmpfloat_with_epsilon(td_strip_load(&self->outline, 500, 600), 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon(td_strip_load(&self->outline, 510, 511), 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon(td_strip_load(&self->outline, 500, 700), 0.55, 1e-9);
  g_assert_cmpfloat_with_epsilon(td_strip_load(&self->outline, 0, N_EVENTS), 0.45, 1e-9);
  g_assert_cmpfloat(td_strip_load(&self->outline, N_EVENTS, N_EVENTS + 1), ==, 0);
}

static void
test_times(Fixture *self, gconstpointer data) {
  double ns;
  g_assert_true(td_strip_time_at(&self->outline, 250, &ns));
  g_assert_cmpfloat_with_epsilon(ns, 2500, 1e-6);
  g_assert_true(td_strip_time_at(&self->outline, N_EVENTS, &ns));
  g_assert_cmpfloat_with_epsilon(ns, 10000, 1e-6);
  self->outline.n_stretches = 0;
  g_assert_false(td_strip_time_at(&self->outline, 250, &ns));
}

static void
assert_problem(const Fixture *self, double x, double y, uint64_t expected) {
  uint64_t seq = UINT64_MAX;
  bool found = td_strip_problem_at(&self->outline, &self->view, x, y, &seq);
  g_assert_cmpint(found, ==, expected != UINT64_MAX);
  if (found) g_assert_cmpuint(seq, ==, expected);
}

/* Of marks over each other the nearer one counts; below them is none. */
static void
test_problems(Fixture *self, gconstpointer data) {
  double x = td_strip_x(&self->view, 500);
  assert_problem(self, x, 5, 500);
  assert_problem(self, x - 3, 5, 500);
  assert_problem(self, x + 2, 5, 502);
  assert_problem(self, x, 20, UINT64_MAX);
  assert_problem(self, x - 20, 5, UINT64_MAX);
  assert_problem(self, td_strip_x(&self->view, 100), 5, 100);
  assert_problem(self, WIDTH, 5, UINT64_MAX);
}

/* Busy stretches stand higher, the segment has another colour, marks are where problems are. */
static void
test_picture(Fixture *self, gconstpointer data) {
  cairo_surface_t *full = paint(self, false);
  self->outline.n_stretches = 0;
  cairo_surface_t *without = paint(self, false);
  int before = 0;
  for (uint64_t at = 150; at < 950; at += 100) {
    int height = count_changed(full, without, td_strip_x(&self->view, at));
    g_assert_cmpint(height, >, before);
    before = height;
  }
  self->view.segment_first = 0;
  self->view.segment_end = 300;
  cairo_surface_t *moved = paint(self, false);
  g_assert_cmpint(count_changed(without, moved, td_strip_x(&self->view, 150)), >, 20);
  g_assert_cmpint(count_changed(without, moved, td_strip_x(&self->view, 450)), >, 20);
  g_assert_cmpint(count_changed(without, moved, td_strip_x(&self->view, 800)), ==, 0);
  self->outline.mentions[TD_LIST_problems].n = 0;
  cairo_surface_t *healthy = paint(self, false);
  g_assert_cmpint(count_changed(moved, healthy, td_strip_x(&self->view, 500)), >, 4);
  g_assert_cmpint(count_changed(moved, healthy, td_strip_x(&self->view, 300)), ==, 0);
  cairo_surface_destroy(full);
  cairo_surface_destroy(without);
  cairo_surface_destroy(moved);
  cairo_surface_destroy(healthy);
}

static void
test_position(Fixture *self, gconstpointer data) {
  cairo_surface_t *bare = paint(self, false), *over = paint(self, true);
  g_assert_cmpint(count_changed(bare, over, td_strip_x(&self->view, 350)), ==, HEIGHT);
  g_assert_cmpint(count_changed(bare, over, td_strip_x(&self->view, 400)), ==, 0);
  self->view.focused = true;
  cairo_surface_t *focused = paint(self, true);
  g_assert_cmpint(count_changed(over, focused, td_strip_x(&self->view, 400)), >, 1);
  cairo_surface_destroy(bare);
  cairo_surface_destroy(over);
  cairo_surface_destroy(focused);
}

/* An outline may lie: times that fall, more time than there was, ends beyond the tape. */
static void
test_lies(Fixture *self, gconstpointer data) {
  static const uint64_t values[] = {0, 1, 50, UINT64_MAX / 2, UINT64_MAX};
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  for (int round = 0; round < 300; round++) {
    for (int i = 0; i < N_STRETCHES; i++) {
      td_catalog_stretch *stretch = &self->stretches[i];
      stretch->end =
          i == 9 ? UINT64_MAX : 100 * (uint64_t)i + (uint64_t)g_rand_int_range(rand, 0, 99);
      stretch->end_ns = values[g_rand_int_range(rand, 0, G_N_ELEMENTS(values))];
      stretch->busy_ns = values[g_rand_int_range(rand, 0, G_N_ELEMENTS(values))];
    }
    for (uint64_t at = 0; at < N_EVENTS; at += 7) {
      double ns, load = td_strip_load(&self->outline, at, at + 50);
      g_assert_cmpfloat(load, >=, 0);
      g_assert_cmpfloat(load, <=, N_THREADS);
      g_assert_true(td_strip_time_at(&self->outline, at, &ns));
      g_assert_cmpfloat(ns, >=, 0);
    }
    self->view.width = round % 3 ? WIDTH : round % 20;
    cairo_surface_destroy(paint(self, true));
  }
}

#define ADD(path, test) g_test_add("/ui/strip/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("places", test_places);
  ADD("loads", test_loads);
  ADD("times", test_times);
  ADD("problems", test_problems);
  ADD("picture", test_picture);
  ADD("position", test_position);
  ADD("lies", test_lies);
  return g_test_run();
}
