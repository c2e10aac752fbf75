/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/strip_picture.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "ui/draw/shapes.h"

#include <math.h>
#include <stdlib.h>

enum { PAD = 7, MARKS = 12, MARK = 4, BOTTOM = 3, PART_WIDTH = 3 };

static double
width_of(const td_strip_view *view) {
  return TD_MAX(view->width - 2 * PAD, 1);
}

double
td_strip_x(const td_strip_view *view, uint64_t position) {
  double share = view->n_events ? (double)position / (double)view->n_events : 0;
  return PAD + TD_MIN(share, 1) * width_of(view);
}

uint64_t
td_strip_position_at(const td_strip_view *view, double x) {
  double share = TD_MIN(TD_MAX((x - PAD) / width_of(view), 0), 1);
  return TD_MIN((uint64_t)(share * (double)view->n_events + 0.5), view->n_events);
}

/* The stretch that has an event, or one too far. */
static uint32_t
stretch_at(const td_catalog *outline, uint64_t seq) {
  uint32_t at;
  TD_BISECT(at, 0, outline->n_stretches, outline->stretches[at].end <= seq);
  return at;
}

static double
begin_ns(const td_catalog *outline, uint32_t stretch) {
  return stretch ? (double)outline->stretches[stretch - 1].end_ns : 0;
}

double
td_strip_load(const td_catalog *outline, uint64_t from, uint64_t to) {
  double busy = 0, first = 0, last = 0;
  uint32_t at = stretch_at(outline, from);
  first = last = begin_ns(outline, at);
  for (; at < outline->n_stretches; at++) {
    busy += (double)outline->stretches[at].busy_ns;
    last = (double)outline->stretches[at].end_ns;
    if (outline->stretches[at].end >= to) break;
  }
  return last > first ? TD_MIN(busy / (last - first), (double)outline->n_threads) : 0;
}

bool
td_strip_time_at(const td_catalog *outline, uint64_t position, double *ns) {
  if (outline->n_stretches == 0) return false;
  uint32_t at = TD_MIN(stretch_at(outline, position), outline->n_stretches - 1);
  const td_catalog_stretch *stretch = &outline->stretches[at];
  uint64_t first = at ? outline->stretches[at - 1].end : 0;
  double share = stretch->end > first && position > first
                     ? (double)(position - first) / (double)(stretch->end - first)
                     : 0;
  double from = begin_ns(outline, at);
  *ns = from + TD_MIN(share, 1) * TD_MAX((double)stretch->end_ns - from, 0);
  return true;
}

/* The first problem whose event has that number or a greater one; n if there is none. */
static uint32_t
problem_from(const td_catalog_mentions *problems, uint64_t seq) {
  uint32_t at;
  TD_BISECT(at, 0, problems->n, problems->items[at].seq < seq);
  return at;
}

bool
td_strip_problem_at(const td_catalog *outline, const td_strip_view *view, double x, double y,
                    uint64_t *seq) {
  const td_catalog_mentions *problems = &outline->mentions[TD_LIST_problems];
  uint32_t at = problem_from(problems, td_strip_position_at(view, x - MARK));
  double nearest = MARK + 1;
  for (; y <= MARKS && at < problems->n; at++) {
    double distance = fabs(td_strip_x(view, problems->items[at].seq) - x);
    if (td_strip_x(view, problems->items[at].seq) > x + MARK || distance >= nearest) break;
    nearest = distance;
    *seq = problems->items[at].seq;
  }
  return nearest <= MARK;
}

static int
compare_loads(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* The load that reaches the top of the strip. A few stretches are shorter than a tick of time and
 * say little: they may have more. */
static double
high_load(const td_catalog *outline) {
  double loads[TD_CATALOG_STRETCHES];
  uint32_t n = outline->n_stretches;
  for (uint32_t i = 0; i < n; i++)
    loads[i] =
        td_strip_load(outline, i ? outline->stretches[i - 1].end : 0, outline->stretches[i].end);
  qsort(loads, n, sizeof *loads, compare_loads);
  double high = n ? loads[(n - 1) * 49 / 50] : 0;
  return high > 0 || n == 0 ? high : loads[n - 1];
}

/* The area of the loads, a step for each pixel. */
static void
make_area(const td_catalog *outline, cairo_t *cr, const td_strip_view *view) {
  double most = high_load(outline), ground = view->height - BOTTOM, end = PAD + width_of(view);
  cairo_move_to(cr, PAD, ground);
  for (double x = PAD; x < end && most > 0; x++) {
    uint64_t from = td_strip_position_at(view, x), to = td_strip_position_at(view, x + 1);
    double share = TD_MIN(td_strip_load(outline, from, to) / most, 1);
    double y = ground - share * (ground - MARKS);
    cairo_line_to(cr, x, y);
    cairo_line_to(cr, TD_MIN(x + 1, end), y);
  }
  cairo_line_to(cr, end, ground);
  cairo_close_path(cr);
}

static td_box
segment_box(const td_strip_view *view) {
  double from = td_strip_x(view, view->segment_first), to = td_strip_x(view, view->segment_end);
  double width = TD_MAX(to - from, PART_WIDTH);
  return (td_box){TD_MIN(from, PAD + width_of(view) - width), 0, width, view->height};
}

static void
fill_box(cairo_t *cr, td_box box, td_colour colour) {
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  td_theme_source(cr, colour);
  cairo_fill(cr);
}

static void
draw_loads(const td_catalog *outline, cairo_t *cr, const td_strip_view *view,
           const td_theme *theme) {
  td_box segment = segment_box(view);
  double ground = view->height - BOTTOM;
  make_area(outline, cr, view);
  td_theme_source(cr, td_colour_fade(theme->dim, 0.55));
  cairo_fill_preserve(cr);
  cairo_save(cr);
  cairo_clip(cr);
  fill_box(cr, segment, theme->accent);
  cairo_restore(cr);
  fill_box(cr, (td_box){PAD, ground, width_of(view), 1}, theme->line);
  fill_box(cr, (td_box){segment.x, ground, segment.width, BOTTOM}, theme->accent);
}

static void
draw_problems(const td_catalog *outline, cairo_t *cr, const td_strip_view *view,
              const td_theme *theme) {
  const td_catalog_mentions *problems = &outline->mentions[TD_LIST_problems];
  for (uint32_t at = 0; at < problems->n;) {
    double x = td_strip_x(view, problems->items[at].seq);
    td_shape_diamond(cr, x, MARKS / 2.0, MARK, theme->error);
    uint32_t next = problem_from(problems, td_strip_position_at(view, x + 2 * MARK));
    at = TD_MAX(next, at + 1);
  }
}

void
td_strip_draw(const td_catalog *outline, cairo_t *cr, const td_strip_view *view,
              const td_theme *theme) {
  fill_box(cr, (td_box){0, 0, view->width, view->height}, theme->background);
  fill_box(cr, segment_box(view), td_colour_fade(theme->accent, 0.16));
  draw_loads(outline, cr, view, theme);
  draw_problems(outline, cr, view, theme);
}

void
td_strip_draw_over(cairo_t *cr, const td_strip_view *view, const td_theme *theme) {
  double x = floor(td_strip_x(view, view->position));
  fill_box(cr, (td_box){x - 1, 0, 2, view->height}, theme->foreground);
  if (!view->focused) return;
  td_shape_rounded(cr, (td_box){1, 1, view->width - 2, view->height - 2}, 4);
  cairo_set_line_width(cr, 2);
  td_theme_source(cr, theme->accent);
  cairo_stroke(cr);
}
