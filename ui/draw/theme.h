/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Colours and fonts of every picture, in one table for light and dark. The window takes the
 * foreground, background and accent from CSS and overrides them here; `render` takes the defaults.
 */
#pragma once

#include "engine/replay/state.h"

#include <cairo.h>
#include <pango/pangocairo.h>
#include <stdbool.h>

typedef struct td_colour {
  double r, g, b, a;
} td_colour;

typedef struct td_theme {
  bool dark;
  td_colour background, foreground, dim, line, accent, error, warning, card, hot;
  td_colour
      node_fill[TD_N_NODE_STATES]; /* colour-blind safe; states also differ in shape or mark */
  td_colour thread_fill[TD_thread_activity_LIMIT];
  td_colour device_stripe[8]; /* cpu, then accelerators in turn */
  const char *font;           /* "Cantarell, sans-serif" */
} td_theme;

/* td_theme_default returns the light or dark theme. It does not change after td_theme_set_font. */
const td_theme *td_theme_default(bool dark);

/* td_theme_set_font gives both default themes another font: a family, or several with commas. Call
 * it before any other thread measures text. The string must live on. */
void td_theme_set_font(const char *families);

/* td_theme_raise_contrast makes a theme one of high contrast: texts and lines get stronger. */
void td_theme_raise_contrast(td_theme *theme);

void td_theme_source(cairo_t *cr, td_colour colour);

/* td_colour_mix goes a share (0 to 1) of the way from one colour to another; td_colour_fade
 * multiplies alpha. */
td_colour td_colour_mix(td_colour from, td_colour to, double share);
td_colour td_colour_fade(td_colour colour, double alpha);

/* td_theme_device returns the colour of a device's stripe. */
td_colour td_theme_device(const td_theme *theme, int32_t device);

/* Labels are shaped once per distinct (text, size) and cached. A cache belongs to one
 * thread. In the window this is the main thread: see Note [Metrics of fonts]. */
typedef struct td_label_cache td_label_cache;
td_label_cache *td_label_cache_new(const td_theme *theme);
void td_label_cache_free(td_label_cache *cache);

/* td_label_draw draws text with its top left at (x, y), cut with an ellipsis at max_width (<= 0:
 * never); td_label_size measures it. size in pixels of the current user space. */
void td_label_draw(td_label_cache *cache, cairo_t *cr, const char *text, double size, double x,
                   double y, double max_width, td_colour colour, bool bold);

/* td_label_paragraph draws text in lines of a width, cut with an ellipsis at a height, and returns
 * the height that they take. Not cached. */
double td_label_paragraph(td_label_cache *cache, cairo_t *cr, const char *text, double size,
                          double x, double y, double width, double height, td_colour colour);

void td_label_size(td_label_cache *cache, const char *text, double size, bool bold, double *width,
                   double *height);

/* td_label_letters measures the printable letters of ASCII as td_label_size does. Any thread may
 * call it, also while GTK measures text: see Note [Metrics of fonts]. */
void td_label_letters(const td_theme *theme, double size, bool bold, float widths[128]);
