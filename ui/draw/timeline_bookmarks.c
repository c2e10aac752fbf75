/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline_bookmarks.h"

#include <math.h>

enum { HALF_WIDTH = 5, HEIGHT = 15, NOTCH = 4, SLACK = 2 };

static bool
is_in_view(const td_timeline_view *view, double x) {
  return x >= TD_TIMELINE_GUTTER && x <= view->width - TD_TIMELINE_RIGHT;
}

static void
draw_line(cairo_t *cr, double x, double height, td_colour colour) {
  static const double dots[] = {1, 3};
  cairo_set_line_width(cr, 1);
  cairo_set_dash(cr, dots, 2, 0);
  cairo_move_to(cr, x, HEIGHT);
  cairo_line_to(cr, x, height);
  td_theme_source(cr, td_colour_fade(colour, 0.8));
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
}

static void
draw_ribbon(cairo_t *cr, double x, const td_theme *theme) {
  cairo_move_to(cr, x - HALF_WIDTH, 0);
  cairo_line_to(cr, x + HALF_WIDTH, 0);
  cairo_line_to(cr, x + HALF_WIDTH, HEIGHT);
  cairo_line_to(cr, x, HEIGHT - NOTCH);
  cairo_line_to(cr, x - HALF_WIDTH, HEIGHT);
  cairo_close_path(cr);
  td_theme_source(cr, theme->hot);
  cairo_fill_preserve(cr);
  cairo_set_line_width(cr, 1);
  td_theme_source(cr, theme->background);
  cairo_stroke(cr);
}

void
td_timeline_draw_bookmark(cairo_t *cr, const td_timeline_view *view, const td_theme *theme,
                          double time_ns) {
  double x = floor(td_timeline_x(view, time_ns)) + 0.5;
  if (!is_in_view(view, x)) return;
  cairo_save(cr);
  draw_line(cr, x, view->height, theme->hot);
  draw_ribbon(cr, x, theme);
  cairo_restore(cr);
}

bool
td_timeline_is_on_bookmark(const td_timeline_view *view, double time_ns, double x, double y) {
  double at = td_timeline_x(view, time_ns);
  return is_in_view(view, at) && fabs(x - at) <= HALF_WIDTH + SLACK && y <= HEIGHT + SLACK;
}
