/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/theme.h"

#include <math.h>
#include <string.h>

enum { MOST_LABELS = 20000 };

typedef struct label_key {
  char *text; /* (owned) in the table, borrowed for a look-up */
  int size, width;
  bool bold;
} label_key;

typedef struct label {
  label_key key;
  PangoLayout *layout; /* (owned) */
  double width, height;
} label;

struct td_label_cache {
  PangoContext *context; /* (owned) */
  char *font;            /* (owned) */
  GHashTable *labels;    /* (owned) label_key in label -> label */
};

static guint
key_hash(gconstpointer data) {
  const label_key *key = data;
  return g_str_hash(key->text) ^ ((guint)key->size * 2654435761u) ^ ((guint)key->width * 40503u) ^
         key->bold;
}

static gboolean
key_equal(gconstpointer a, gconstpointer b) {
  const label_key *left = a, *right = b;
  return left->size == right->size && left->width == right->width && left->bold == right->bold &&
         !strcmp(left->text, right->text);
}

static void
label_free(gpointer data) {
  label *self = data;
  g_object_unref(self->layout);
  free(self->key.text);
  free(self);
}

/* Glyphs stand at fractions of a pixel, so that text keeps its shape at every scale. */
static PangoContext *
context_new(void) {
  PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context, options);
  pango_context_set_round_glyph_positions(context, FALSE);
  cairo_font_options_destroy(options);
  return context;
}

td_label_cache *
td_label_cache_new(const td_theme *theme) {
  td_label_cache *cache = TD_NEW(td_label_cache);
  cache->context = context_new();
  cache->font = td_dup_string(theme->font);
  cache->labels = g_hash_table_new_full(key_hash, key_equal, NULL, label_free);
  return cache;
}

void
td_label_cache_free(td_label_cache *cache) {
  if (!cache) return;
  g_hash_table_unref(cache->labels);
  g_object_unref(cache->context);
  free(cache->font);
  free(cache);
}

static PangoFontDescription *
font_of(const char *name, double size, bool bold) {
  PangoFontDescription *font = pango_font_description_from_string(name);
  pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
  if (bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  return font;
}

static label *
label_new(td_label_cache *cache, const label_key *key) {
  label *self = TD_NEW(label);
  self->key = *key;
  self->key.text = td_dup_string(key->text);
  self->layout = pango_layout_new(cache->context);
  PangoFontDescription *font = font_of(cache->font, key->size / 8.0, key->bold);
  pango_layout_set_font_description(self->layout, font);
  pango_font_description_free(font);
  pango_layout_set_single_paragraph_mode(self->layout, TRUE);
  if (key->width > 0) {
    pango_layout_set_width(self->layout, key->width * PANGO_SCALE);
    pango_layout_set_ellipsize(self->layout, PANGO_ELLIPSIZE_END);
  }
  pango_layout_set_text(self->layout, key->text, -1);
  PangoRectangle extent;
  pango_layout_get_extents(self->layout, NULL, &extent);
  self->width = extent.width / (double)PANGO_SCALE;
  self->height = extent.height / (double)PANGO_SCALE;
  return self;
}

static const label *
label_get(td_label_cache *cache, const char *text, double size, double max_width, bool bold) {
  label_key key = {(char *)text, (int)lrint(size * 8), max_width > 0 ? (int)ceil(max_width) : -1,
                   bold};
  label *found = g_hash_table_lookup(cache->labels, &key);
  if (found) return found;
  if (g_hash_table_size(cache->labels) >= MOST_LABELS) g_hash_table_remove_all(cache->labels);
  found = label_new(cache, &key);
  g_hash_table_insert(cache->labels, &found->key, found);
  return found;
}

void
td_label_draw(td_label_cache *cache, cairo_t *cr, const char *text, double size, double x, double y,
              double max_width, td_colour colour, bool bold) {
  const label *found = label_get(cache, text, size, max_width, bold);
  td_theme_source(cr, colour);
  cairo_move_to(cr, x, y);
  pango_cairo_show_layout(cr, found->layout);
}

void
td_label_size(td_label_cache *cache, const char *text, double size, bool bold, double *width,
              double *height) {
  const label *found = label_get(cache, text, size, 0, bold);
  if (width) *width = found->width;
  if (height) *height = found->height;
}

/* Note [Metrics of fonts]
 *
 * Problem: Pango has one flag for all threads that says that it computes the metrics of a font. If
 * two threads compute metrics at once, one of them gets digits of width 0, and Pango keeps them.
 * Then labels of GTK that reserve room for digits are too narrow.
 * Constraint: GTK computes metrics in the main thread, and takes no lock that others could take.
 * Trick: A layout needs metrics, a shaped item does not. So other threads make no layouts. */
static float
letter_width(PangoContext *context, const char *letter) {
  GList *items = pango_itemize(context, letter, 0, 1, NULL, NULL);
  PangoGlyphString *glyphs = pango_glyph_string_new();
  pango_shape(letter, 1, &((PangoItem *)items->data)->analysis, glyphs);
  float width = (float)pango_glyph_string_get_width(glyphs) / PANGO_SCALE;
  pango_glyph_string_free(glyphs);
  g_list_free_full(items, (GDestroyNotify)pango_item_free);
  return width;
}

void
td_label_letters(const td_theme *theme, double size, bool bold, float widths[128]) {
  PangoContext *context = context_new();
  PangoFontDescription *font = font_of(theme->font, size, bold);
  pango_context_set_font_description(context, font);
  memset(widths, 0, 128 * sizeof *widths);
  for (int c = 32; c < 127; c++)
    widths[c] = letter_width(context, (char[]){(char)c, '\0'});
  pango_font_description_free(font);
  g_object_unref(context);
}

double
td_label_paragraph(td_label_cache *cache, cairo_t *cr, const char *text, double size, double x,
                   double y, double width, double height, td_colour colour) {
  PangoLayout *layout = pango_layout_new(cache->context);
  PangoFontDescription *font = font_of(cache->font, size, false);
  int taken;
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
  pango_layout_set_height(layout, (int)(height * PANGO_SCALE));
  pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_line_spacing(layout, 1.15f);
  pango_layout_set_text(layout, text, -1);
  td_theme_source(cr, colour);
  cairo_move_to(cr, x, y);
  pango_cairo_show_layout(cr, layout);
  pango_layout_get_pixel_size(layout, NULL, &taken);
  g_object_unref(layout);
  return taken;
}
