/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Golden pictures: every picture, light, dark and with high contrast, against an image in
 * tests/ui/golden.
 *
 * Versions of cairo and of fonts draw the same thing a little differently, so pixels cannot be
 * equal. But a colour or a line that is missing must be found. So the test compares the mean
 * colours of squares, and judges by the worst square.
 *
 *     test_golden_pictures --generate    writes the images */
#include "tests/ui/picture_fixture.h"
#include "ui/draw/scene.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SQUARE 6              /* pixels along each side */
#define TOLERANCE 0.025       /* of a channel's range, in the worst square */
#define TOLERANCE_OF_FINE 0.1 /* letters of twice the size are not hinted alike */

static const struct {
  int width, height;
} sizes[G_N_ELEMENTS(pictures)] = {{640, 620}, {640, 360}, {640, 360}, {1000, 680}};

static const struct {
  const char *name;
  bool dark, high_contrast;
} looks[] = {{"light", false, false},
             {"dark", true, false},
             {"light-contrast", false, true},
             {"dark-contrast", true, true}};

#define N_LOOKS G_N_ELEMENTS(looks)

static char *
golden_path(size_t i, size_t look) {
  return g_strdup_printf("%s/tests/ui/golden/%s-%s.png", g_getenv("SOURCE_ROOT"), pictures[i].name,
                         looks[look].name);
}

/* The mean of one channel in a square, 0 to 1. */
static double
mean_of(cairo_surface_t *surface, int left, int top, int channel) {
  const unsigned char *data = cairo_image_surface_get_data(surface);
  int stride = cairo_image_surface_get_stride(surface), sum = 0;
  for (int y = top; y < top + SQUARE; y++)
    for (int x = left; x < left + SQUARE; x++)
      sum += data[y * stride + 4 * x + channel];
  return sum / (255.0 * SQUARE * SQUARE);
}

/* How far the mean of a square is outside what the golden picture has there and a pixel beside. So
 * a picture that moved by less than a pixel is no other picture. */
static double
outside(cairo_surface_t *drawn, cairo_surface_t *golden, int left, int top, int channel) {
  double least = 1, most = 0, mean = mean_of(drawn, left, top, channel);
  for (int y = top - 1; y <= top + 1; y++)
    for (int x = left - 1; x <= left + 1; x++) {
      double here = mean_of(golden, x, y, channel);
      least = MIN(least, here);
      most = MAX(most, here);
    }
  return MAX(MAX(least - mean, mean - most), 0);
}

/* The greatest difference of all squares and channels, and where it is. Squares overlap by half. */
static double
difference(cairo_surface_t *drawn, cairo_surface_t *golden, int *x, int *y) {
  int width = cairo_image_surface_get_width(golden);
  int height = cairo_image_surface_get_height(golden);
  g_assert_cmpint(cairo_image_surface_get_width(drawn), ==, width);
  g_assert_cmpint(cairo_image_surface_get_height(drawn), ==, height);
  double worst = 0;
  for (int top = 1; top + SQUARE < height; top += SQUARE / 2)
    for (int left = 1; left + SQUARE < width; left += SQUARE / 2)
      for (int channel = 0; channel < 3; channel++) {
        double here = outside(drawn, golden, left, top, channel);
        if (here <= worst) continue;
        worst = here;
        *x = left;
        *y = top;
      }
  return worst;
}

static cairo_surface_t *
paint_golden_at(picture_fixture *self, size_t i, size_t look, int scale) {
  td_theme theme = *td_theme_default(looks[look].dark);
  if (looks[look].high_contrast) td_theme_raise_contrast(&theme);
  return paint_at(self, &pictures[i], &theme, sizes[i].width, sizes[i].height, scale);
}

static cairo_surface_t *
paint_golden(picture_fixture *self, size_t i, size_t look) {
  return paint_golden_at(self, i, look, 1);
}

/* The same picture, moved to the right and down. */
static cairo_surface_t *
shifted(cairo_surface_t *surface, double shift) {
  cairo_surface_t *moved =
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, cairo_image_surface_get_width(surface),
                                 cairo_image_surface_get_height(surface));
  cairo_t *cr = cairo_create(moved);
  cairo_set_source_surface(cr, surface, shift, shift);
  cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD);
  cairo_paint(cr);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  cairo_surface_flush(moved);
  return moved;
}

static cairo_surface_t *
read_golden(size_t i, size_t look) {
  g_autofree char *path = golden_path(i, look);
  cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
  if (cairo_surface_status(surface)) g_error("%s cannot be read", path);
  return shifted(surface, 0); /* in the format of the others */
}

/* Leaves a picture for a person to look at. */
static void
keep(picture_fixture *self, size_t i, size_t look) {
  cairo_surface_t *drawn = paint_golden(self, i, look);
  g_autofree char *folder = g_build_filename(g_getenv("TEST_OUTPUT"), "golden", NULL);
  g_autofree char *path =
      g_strdup_printf("%s/%s-%s.png", folder, pictures[i].name, looks[look].name);
  g_mkdir_with_parents(folder, 0777);
  cairo_surface_write_to_png(drawn, path);
  g_test_message("drawn: %s", path);
  cairo_surface_destroy(drawn);
}

/* How far what is drawn now is from the golden picture. */
static double
distance(picture_fixture *self, size_t i, size_t look, double shift) {
  cairo_surface_t *golden = read_golden(i, look);
  cairo_surface_t *drawn = shifted(paint_golden(self, i, look), shift);
  int x = 0, y = 0;
  double found = difference(drawn, golden, &x, &y);
  g_test_message("%s, %s: %.4f at %d, %d", pictures[i].name, looks[look].name, found, x, y);
  cairo_surface_destroy(golden);
  cairo_surface_destroy(drawn);
  return found;
}

/* The golden pictures are of Cantarell, which ./bootstrap installs. Another font has other widths.
 */
static bool
has_font(void) {
  PangoFontMap *map = pango_cairo_font_map_get_default();
  PangoContext *context = pango_font_map_create_context(map);
  PangoFontDescription *wanted = pango_font_description_from_string("Cantarell");
  PangoFont *font = pango_font_map_load_font(map, context, wanted);
  PangoFontDescription *found = font ? pango_font_describe(font) : NULL;
  bool same = found && !g_strcmp0(pango_font_description_get_family(found), "Cantarell");
  pango_font_description_free(found);
  g_clear_object(&font);
  g_object_unref(context);
  pango_font_description_free(wanted);
  return same;
}

static void
test_golden(gconstpointer data) {
  size_t i = GPOINTER_TO_SIZE(data);
  picture_fixture self;
  picture_fixture_init(&self, 16);
  for (size_t look = 0; look < N_LOOKS; look++) {
    keep(&self, i, look);
    g_assert_cmpfloat(distance(&self, i, look, 0), <, TOLERANCE);
  }
  picture_fixture_fini(&self);
}

/* The comparison itself: half a pixel is no difference. */
static void
test_half_a_pixel(void) {
  picture_fixture self;
  picture_fixture_init(&self, 16);
  for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
    for (size_t look = 0; look < N_LOOKS; look++)
      g_assert_cmpfloat(distance(&self, i, look, 0.5), <, TOLERANCE);
  picture_fixture_fini(&self);
}

/* Half as wide and high: each pixel is the mean of four. */
static cairo_surface_t *
halved(cairo_surface_t *fine) {
  int width = cairo_image_surface_get_width(fine) / 2;
  int height = cairo_image_surface_get_height(fine) / 2;
  cairo_surface_t *half = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  const unsigned char *from = cairo_image_surface_get_data(fine);
  unsigned char *to = cairo_image_surface_get_data(half);
  int from_stride = cairo_image_surface_get_stride(fine);
  int to_stride = cairo_image_surface_get_stride(half);
  for (int y = 0; y < height; y++)
    for (int at = 0; at < 4 * width; at++) {
      const unsigned char *pixel = from + 2 * y * from_stride + at / 4 * 8 + at % 4;
      to[y * to_stride + at] =
          (pixel[0] + pixel[4] + pixel[from_stride] + pixel[from_stride + 4] + 2) / 4;
    }
  cairo_surface_mark_dirty(half);
  return half;
}

/* How much the two pixels of each pair differ: not at all in a picture that was only enlarged. */
static double
detail_of(cairo_surface_t *fine) {
  const unsigned char *data = cairo_image_surface_get_data(fine);
  int stride = cairo_image_surface_get_stride(fine), n = cairo_image_surface_get_height(fine);
  double sum = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x + 8 <= stride; x += 8)
      sum += pow(data[y * stride + x + 1] - data[y * stride + x + 5], 2);
  return sum / ((double)stride * n);
}

static cairo_surface_t *
enlarged(cairo_surface_t *plain) {
  int width = cairo_image_surface_get_width(plain), height = cairo_image_surface_get_height(plain);
  cairo_surface_t *large = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 2 * width, 2 * height);
  cairo_t *cr = cairo_create(large);
  cairo_scale(cr, 2, 2);
  cairo_set_source_surface(cr, plain, 0, 0);
  cairo_paint(cr);
  cairo_destroy(cr);
  cairo_surface_flush(large);
  return large;
}

/* On a fine screen a picture is the golden one with more detail than that one enlarged. */
static void
test_scale_two(void) {
  picture_fixture self;
  picture_fixture_init(&self, 16);
  for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
    for (size_t look = 0; look < N_LOOKS; look++) {
      cairo_surface_t *fine = paint_golden_at(&self, i, look, 2), *half = halved(fine);
      cairo_surface_t *golden = read_golden(i, look), *large = enlarged(golden);
      int x = 0, y = 0;
      double found = difference(half, golden, &x, &y);
      g_test_message("%s, %s: %.4f at %d, %d; detail %.1f of %.1f", pictures[i].name,
                     looks[look].name, found, x, y, detail_of(fine), detail_of(large));
      g_assert_cmpfloat(found, <, TOLERANCE_OF_FINE);
      g_assert_cmpfloat(detail_of(fine), >, 1.5 * detail_of(large));
      cairo_surface_destroy(large);
      cairo_surface_destroy(golden);
      cairo_surface_destroy(half);
      cairo_surface_destroy(fine);
    }
  picture_fixture_fini(&self);
}

/* Each node in turn has another state, and so another colour, in the graph. */
static void
test_one_colour(void) {
  picture_fixture self;
  picture_fixture_init(&self, 16);
  for (uint32_t i = 0; i < self.scene->n_nodes; i++) {
    td_node_now *now = (td_node_now *)td_state_node(self.state, self.scene->nodes[i].node);
    td_node_now before = *now;
    for (size_t look = 0; look < N_LOOKS; look++) {
      now->state = before.state == TD_NODE_failed ? TD_NODE_queued : TD_NODE_failed;
      g_assert_cmpfloat(distance(&self, 0, look, 0), >, TOLERANCE);
      *now = before;
    }
  }
  picture_fixture_fini(&self);
}

/* Each edge in turn is not drawn. */
static void
test_one_edge(void) {
  picture_fixture self;
  picture_fixture_init(&self, 16);
  td_graph_scene *scene = self.scene;
  uint32_t n_hidden = 0;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    td_scene_edge *edge = &scene->edges[i], before = *edge;
    if (scene->layout->route[i] == TD_ROUTE_AROUND) continue; /* pale on purpose */
    edge->left = edge->right = 1e9;                           /* far outside the view */
    for (size_t look = 0; look < N_LOOKS; look++)
      g_assert_cmpfloat(distance(&self, 0, look, 0), >, TOLERANCE);
    *edge = before;
    n_hidden++;
  }
  g_assert_cmpuint(n_hidden, >, 10);
  picture_fixture_fini(&self);
}

static void
skip(void) {
  g_test_skip("the font Cantarell is not installed");
}

static int
generate(void) {
  picture_fixture self;
  picture_fixture_init(&self, 16);
  for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
    for (size_t look = 0; look < N_LOOKS; look++) {
      g_autofree char *path = golden_path(i, look);
      cairo_surface_t *surface = paint_golden(&self, i, look);
      g_assert_cmpint(cairo_surface_write_to_png(surface, path), ==, CAIRO_STATUS_SUCCESS);
      cairo_surface_destroy(surface);
    }
  picture_fixture_fini(&self);
  return 0;
}

int
main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--generate")) return generate();
  g_test_init(&argc, &argv, NULL);
  if (!has_font()) {
    g_test_add_func("/ui/golden-pictures", skip);
    return g_test_run();
  }
  for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++) {
    g_autofree char *path = g_strdup_printf("/ui/golden-pictures/%s", pictures[i].name);
    g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_golden);
  }
  g_test_add_func("/ui/golden-pictures/half-a-pixel", test_half_a_pixel);
  g_test_add_func("/ui/golden-pictures/scale-two", test_scale_two);
  g_test_add_func("/ui/golden-pictures/one-colour", test_one_colour);
  g_test_add_func("/ui/golden-pictures/one-edge", test_one_edge);
  return g_test_run();
}
