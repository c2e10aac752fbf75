/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The areas of the memory over time. */
#include "ui/draw/memory_picture.h"

#include <glib.h>

enum { WIDTH = 216, HEIGHT = 142, LEFT = 8 }; /* 200 pixels for the time, 100 for the bytes */

static const td_memory_view view = {.width = WIDTH, .height = HEIGHT, .to_ns = 200000};

/* Nothing up to 51.2 us; then 600 bytes saved and 200 in buffers up to 102.4 us; then 400 saved. */
static td_memory_areas *
make_areas(void) {
  td_memory_areas *areas = g_new0(td_memory_areas, 1);
  td_memory_level level = {{0}};
  level.bytes[TD_HELD_saved] = 600;
  level.bytes[TD_HELD_buffer] = 200;
  td_memory_samples_add(&areas->samples, 51200, &level);
  level.bytes[TD_HELD_saved] = 400;
  level.bytes[TD_HELD_buffer] = 0;
  td_memory_samples_add(&areas->samples, 102400, &level);
  td_memory_samples_add(&areas->samples, 200000, &level);
  areas->peak_ns = UINT64_MAX;
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
    areas->is_known[group] = true;
  return areas;
}

static void
test_at(void) {
  td_memory_areas *areas = make_areas();
  g_assert_null(td_memory_picture_at(areas, 50000));
  g_assert_cmpuint(td_memory_total(td_memory_picture_at(areas, 60000)), ==, 800);
  g_assert_cmpuint(td_memory_total(td_memory_picture_at(areas, 150000)), ==, 400);
  g_assert_cmpuint(td_memory_total(td_memory_picture_at(areas, 1e12)), ==, 400);
  g_assert_cmpfloat(td_memory_view_time_at(&view, LEFT), ==, 0);
  g_assert_cmpfloat(td_memory_view_time_at(&view, LEFT + 100), ==, 100000);
  g_assert_cmpfloat(td_memory_view_time_at(&view, WIDTH + 50), ==, 200000);
  g_free(areas);
}

static uint32_t
pixel(cairo_surface_t *surface, int x, int y) {
  const unsigned char *data = cairo_image_surface_get_data(surface);
  return ((const uint32_t *)(const void *)(data + y * cairo_image_surface_get_stride(surface)))[x];
}

/* How many pixels of a column have the colour that the column has at the ground. */
static int
height_of(cairo_surface_t *surface, int x, int y) {
  int n = 0;
  uint32_t colour = pixel(surface, x, y);
  while (pixel(surface, x, y - n) == colour)
    n++;
  return n;
}

static void
test_areas(void) {
  td_memory_areas *areas = make_areas();
  const td_theme *theme = td_theme_default(false);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(surface);
  td_label_cache *labels = td_label_cache_new(theme);
  int ground = HEIGHT - 8 - 1;
  td_memory_picture_draw(areas, cr, &view, theme, labels);
  cairo_surface_flush(surface);
  uint32_t empty = pixel(surface, LEFT + 20, ground - 50);
  g_assert_cmphex(pixel(surface, LEFT + 20, ground - 1), ==, empty);
  int saved = height_of(surface, LEFT + 80, ground - 1);
  int buffers = height_of(surface, LEFT + 80, ground - 1 - saved);
  g_assert_cmpint(abs(saved - 74), <=, 2);   /* 600 of 800 bytes */
  g_assert_cmpint(abs(buffers - 25), <=, 2); /* 200 */
  g_assert_cmpint(abs(height_of(surface, LEFT + 150, ground - 1) - 49), <=, 2);
  g_assert_cmphex(pixel(surface, LEFT + 150, ground - 60), ==, empty);
  td_label_cache_free(labels);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  g_free(areas);
}

/* Whichever groups a tape tells of, their names leave the room of the areas free. */
static void
test_legend(void) {
  enum { NARROW = 290, PLOT = 36 };
  td_memory_areas areas = {.peak_ns = UINT64_MAX};
  const td_theme *theme = td_theme_default(false);
  td_label_cache *labels = td_label_cache_new(theme);
  td_memory_view narrow = {.width = NARROW, .height = HEIGHT, .to_ns = 200000};
  for (int known = 0; known < 1 << TD_N_HOLDING_GROUPS; known++) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, NARROW, HEIGHT);
    cairo_t *cr = cairo_create(surface);
    for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
      areas.is_known[group] = known & 1 << group;
    td_memory_picture_draw(&areas, cr, &narrow, theme, labels);
    cairo_surface_flush(surface);
    for (int x = 0; x < NARROW; x++)
      for (int y = PLOT; y < PLOT + 40; y++)
        g_assert_cmphex(pixel(surface, x, y), ==, pixel(surface, 0, PLOT));
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
  }
  td_label_cache_free(labels);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/memory-picture/at", test_at);
  g_test_add_func("/ui/memory-picture/areas", test_areas);
  g_test_add_func("/ui/memory-picture/legend", test_legend);
  return g_test_run();
}
