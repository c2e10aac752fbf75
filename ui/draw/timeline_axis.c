/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/timeline.h"
#include "ui/geometry/format.h"
#include "ui/geometry/ticks.h"

#include <math.h>

#define TICK_PIXELS 95 /* at least, from one to the next */

/* A piece of the axis that no cut interrupts. */
typedef struct piece {
  double from_ns, to_ns;
} piece;

/* The next piece in view after a moment, with its ticks. A cut tells times apart: each piece has
 * ticks of its own. */
static bool
next_piece(const td_timeline_drawing *draw, double after_ns, piece *piece, td_ticks *ticks) {
  const td_timeline_view *view = draw->view;
  const td_time_cut *cut = td_time_cuts_next(view->cuts, after_ns);
  if (cut && cut->begin_ns <= after_ns) after_ns = cut->end_ns;
  cut = td_time_cuts_next(view->cuts, after_ns);
  piece->from_ns = after_ns;
  piece->to_ns = cut ? TD_MIN(cut->begin_ns, view->to_ns) : view->to_ns;
  if (piece->from_ns >= piece->to_ns) return false;
  double width = td_timeline_x(view, piece->to_ns) - td_timeline_x(view, piece->from_ns);
  uint32_t most = (uint32_t)(width / TICK_PIXELS);
  *ticks = most ? td_ticks_choose(piece->from_ns, piece->to_ns, most) : (td_ticks){0};
  return true;
}

static void
draw_line(const td_timeline_drawing *draw, double x, double from, double to) {
  cairo_move_to(draw->cr, floor(x) + 0.5, from);
  cairo_line_to(draw->cr, floor(x) + 0.5, to);
}

void
td_timeline_draw_grid(const td_timeline_drawing *draw) {
  piece piece = {.to_ns = draw->view->from_ns};
  td_ticks ticks;
  while (next_piece(draw, piece.to_ns, &piece, &ticks))
    for (uint32_t i = 0; i < ticks.n; i++)
      draw_line(draw, td_timeline_x(draw->view, ticks.first + i * ticks.step), TD_TIMELINE_AXIS,
                draw->timeline->height);
  td_theme_source(draw->cr, td_colour_fade(draw->theme->line, 0.45));
  cairo_set_line_width(draw->cr, 1);
  cairo_stroke(draw->cr);
}

static void
draw_minor_ticks(const td_timeline_drawing *draw, const piece *piece, const td_ticks *ticks) {
  double minor = ticks->step / ticks->n_minor;
  for (double t = ticks->first - ticks->step; t < piece->to_ns && ticks->n; t += minor)
    if (t >= piece->from_ns) draw_line(draw, td_timeline_x(draw->view, t), 19, 22);
  td_theme_source(draw->cr, draw->theme->line);
  cairo_set_line_width(draw->cr, 1);
  cairo_stroke(draw->cr);
}

/* The playhead's head is wider than its line: a label that it would cover is left out. */
static bool
has_room(const td_timeline_drawing *draw, const char *text, double x) {
  double width, playhead = td_timeline_x(draw->view, draw->view->now_ns);
  td_label_size(draw->labels, text, 11, false, &width, NULL);
  bool covered = playhead + 8 > x && playhead - 8 < x + width;
  return x + width + 4 < draw->view->width && !covered;
}

static void
draw_major_ticks(const td_timeline_drawing *draw, const td_ticks *ticks) {
  for (uint32_t i = 0; i < ticks->n; i++) {
    double x = td_timeline_x(draw->view, ticks->first + i * ticks->step);
    char *text = td_ticks_text(ticks, i);
    draw_line(draw, x, 15, 22);
    td_theme_source(draw->cr, draw->theme->dim);
    cairo_stroke(draw->cr);
    if (has_room(draw, text, x + 5))
      td_label_draw(draw->labels, draw->cr, text, 11, x + 5, 4, 0, draw->theme->dim, false);
    free(text);
  }
}

static void
draw_ticks(const td_timeline_drawing *draw) {
  piece piece = {.to_ns = draw->view->from_ns};
  td_ticks ticks;
  while (next_piece(draw, piece.to_ns, &piece, &ticks)) {
    draw_minor_ticks(draw, &piece, &ticks);
    draw_major_ticks(draw, &ticks);
  }
}

static void
draw_flag_line(const td_timeline_drawing *draw, double x, td_colour colour) {
  static const double dashes[] = {3, 3};
  cairo_set_dash(draw->cr, dashes, 2, 0);
  draw_line(draw, x, 40, draw->view->height);
  td_theme_source(draw->cr, td_colour_fade(colour, 0.5));
  cairo_stroke(draw->cr);
  cairo_set_dash(draw->cr, NULL, 0, 0);
}

static bool
is_in_view(const td_timeline_drawing *draw, double x) {
  return x >= TD_TIMELINE_GUTTER && x <= draw->view->width;
}

/* Do flags stand so close that a line for each would hide what is under them? */
static bool
are_crowded(const td_timeline_drawing *draw, const td_flags *flags) {
  size_t n = 0;
  for (size_t i = 0; i < flags->n; i++)
    n += is_in_view(draw, td_timeline_x(draw->view, (double)flags->flags[i].time));
  return (double)n * 24 > draw->view->width;
}

/* A line for each flag unless they stand too close, a label where the one before it leaves
 * room. */
static void
draw_flags(const td_timeline_drawing *draw, const td_flags *flags, td_colour colour) {
  double free_from = 0, last_line = -100;
  bool crowded = are_crowded(draw, flags);
  for (size_t i = 0; i < flags->n; i++) {
    const td_flag *flag = &flags->flags[i];
    double x = td_timeline_x(draw->view, (double)flag->time), width;
    if (!is_in_view(draw, x) || x - last_line < 8) continue;
    if (crowded && x < free_from) continue;
    draw_flag_line(draw, x, colour);
    last_line = x;
    td_label_size(draw->labels, flag->text, 10.5, true, &width, NULL);
    if (x < free_from || x + width + 12 > draw->view->width) continue;
    td_shape_rounded(draw->cr, (td_box){x, 25, width + 10, 15}, 3);
    td_theme_source(draw->cr, td_colour_mix(draw->theme->background, colour, 0.16));
    cairo_fill(draw->cr);
    td_label_draw(draw->labels, draw->cr, flag->text, 10.5, x + 5, 25, 0, colour, true);
    free_from = x + width + 14;
  }
}

/* A step ends where its flag is. The first one begins with the tape. */
static td_box
step_box(const td_timeline_drawing *draw, size_t i) {
  const td_flag *flags = draw->timeline->steps.flags;
  double begin = i ? td_timeline_x(draw->view, (double)flags[i - 1].time) : 0;
  double end = td_timeline_x(draw->view, (double)flags[i].time);
  begin = TD_MAX(begin, TD_TIMELINE_GUTTER);
  end = TD_MIN(end, draw->view->width);
  return (td_box){begin + 1, 25, end - begin - 2, 15};
}

/* A band for each step, with its name inside if that fits. Many steps have flags alone. */
static void
draw_steps(const td_timeline_drawing *draw) {
  const td_flags *steps = &draw->timeline->steps;
  td_colour colour = draw->theme->dim;
  if (are_crowded(draw, steps)) {
    draw_flags(draw, steps, colour);
    return;
  }
  for (size_t i = 0; i < steps->n; i++) {
    td_box box = step_box(draw, i);
    double width;
    if (box.width < 4) continue;
    if (is_in_view(draw, box.x + box.width + 1))
      draw_flag_line(draw, box.x + box.width + 1, colour);
    td_shape_rounded(draw->cr, box, 3);
    td_theme_source(draw->cr, td_colour_mix(draw->theme->background, colour, 0.16));
    cairo_fill(draw->cr);
    td_label_size(draw->labels, steps->flags[i].text, 10.5, true, &width, NULL);
    if (width + 8 < box.width)
      td_label_draw(draw->labels, draw->cr, steps->flags[i].text, 10.5,
                    box.x + (box.width - width) / 2, 25, 0, colour, true);
  }
}

void
td_timeline_draw_axis(const td_timeline_drawing *draw) {
  td_theme_source(draw->cr, draw->theme->background);
  cairo_rectangle(draw->cr, 0, 0, draw->view->width, TD_TIMELINE_AXIS);
  cairo_fill(draw->cr);
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, 0, TD_TIMELINE_AXIS - 0.5, draw->view->width, 0.5);
  td_theme_source(draw->cr, draw->theme->line);
  cairo_fill(draw->cr);
  cairo_set_line_width(draw->cr, 1);
  draw_ticks(draw);
  draw_flags(draw, &draw->timeline->pauses, draw->theme->hot);
  draw_steps(draw);
  draw_flags(draw, &draw->timeline->marks, draw->theme->accent);
  cairo_restore(draw->cr);
}

static void
draw_diamond(const td_timeline_drawing *draw, const td_lane *lane, double x, td_colour colour) {
  double y = td_lane_first_row(lane) + lane->row_height / 2 - 1.5;
  td_shape_diamond(draw->cr, x, y, 8.5, draw->theme->background);
  td_shape_diamond(draw->cr, x, y, 6.5, colour);
}

/* A NaN that stays is in every pass: then a line along the lane's end says where, and the spans can
 * still be seen. */
static void
draw_tick(const td_timeline_drawing *draw, const td_lane *lane, double x, td_colour colour) {
  td_theme_source(draw->cr, colour);
  cairo_rectangle(draw->cr, floor(x), lane->y + lane->height - 5, 1, 4);
  cairo_fill(draw->cr);
}

void
td_timeline_draw_anomalies(const td_timeline_drawing *draw) {
  const td_timeline *timeline = draw->timeline;
  bool crowded = are_crowded(draw, &timeline->anomalies);
  double last = -1;
  for (size_t i = 0; i < timeline->anomalies.n; i++) {
    const td_flag *flag = &timeline->anomalies.flags[i];
    double x = td_timeline_x(draw->view, (double)flag->time);
    if (!is_in_view(draw, x) || flag->thread >= timeline->catalog->n_threads) continue;
    const td_lane *lane = &timeline->lanes[flag->thread];
    bool ahead = (double)flag->time > draw->view->now_ns;
    td_colour colour = td_colour_fade(draw->theme->error, ahead ? 0.5 : 1);
    if (!crowded)
      draw_diamond(draw, lane, x, colour);
    else if (floor(x) != last || timeline->catalog->n_threads > 1)
      draw_tick(draw, lane, x, colour);
    last = floor(x);
  }
}

void
td_timeline_draw_playhead(const td_timeline_drawing *draw) {
  double x = td_timeline_x(draw->view, draw->view->now_ns);
  if (x < TD_TIMELINE_GUTTER - 1 || x > draw->view->width - TD_TIMELINE_RIGHT + 1) return;
  x = floor(x) + 0.5;
  td_theme_source(draw->cr, draw->theme->accent);
  cairo_set_line_width(draw->cr, 1.5);
  cairo_move_to(draw->cr, x, 10);
  cairo_line_to(draw->cr, x, draw->view->height);
  cairo_stroke(draw->cr);
  cairo_move_to(draw->cr, x - 6, 4);
  cairo_line_to(draw->cr, x + 6, 4);
  cairo_line_to(draw->cr, x + 6, 10);
  cairo_line_to(draw->cr, x, 17);
  cairo_line_to(draw->cr, x - 6, 10);
  cairo_close_path(draw->cr);
  cairo_fill(draw->cr);
}
