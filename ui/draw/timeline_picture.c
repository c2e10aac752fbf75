/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline_picture.h"

#include "engine/base/alloc.h"
#include "ui/draw/timeline.h"

#include <math.h>

#define TITLE_WIDTH (TD_TIMELINE_GUTTER - 40)

double
td_timeline_height(const td_timeline *timeline) {
  return timeline->height;
}

static uint64_t
lane_begin(const td_lane *lane) {
  uint64_t first = lane->n_samples ? lane->samples[0].time : UINT64_MAX;
  for (size_t r = 0; r < lane->n_rows; r++)
    if (lane->rows[r].n) first = TD_MIN(first, lane->rows[r].spans[0].begin);
  return first;
}

static uint64_t
lane_end(const td_lane *lane) {
  uint64_t last = lane->n_samples ? lane->samples[lane->n_samples - 1].time : 0;
  for (size_t r = 0; r < lane->n_rows; r++)
    if (lane->rows[r].n) last = TD_MAX(last, lane->rows[r].spans[lane->rows[r].n - 1].end);
  return last;
}

const td_time_cuts *
td_timeline_cuts(const td_timeline *timeline) {
  return &timeline->cuts;
}

void
td_timeline_extent(const td_timeline *timeline, double *from_ns, double *to_ns) {
  uint64_t first = UINT64_MAX, last = 0;
  for (size_t i = 0; i < timeline->n_lanes; i++) {
    first = TD_MIN(first, lane_begin(&timeline->lanes[i]));
    last = TD_MAX(last, lane_end(&timeline->lanes[i]));
  }
  if (first >= last) {
    first = 0;
    last = timeline->duration;
  }
  double begin = td_time_cuts_place(&timeline->cuts, (double)first);
  double room = (td_time_cuts_place(&timeline->cuts, (double)last) - begin) * 0.02 + 1;
  *from_ns = TD_MAX((double)first - room, 0);
  *to_ns = (double)last + room;
}

static void
draw_lane_ground(const td_timeline_drawing *draw, const td_lane *lane, bool odd) {
  td_theme_source(draw->cr, td_colour_mix(draw->theme->background, draw->theme->foreground,
                                          odd ? 0.035 : 0.012));
  cairo_rectangle(draw->cr, 0, lane->y, draw->view->width, lane->height);
  cairo_fill(draw->cr);
}

static void
draw_band(const td_timeline_drawing *draw, const td_band *band) {
  cairo_rectangle(draw->cr, 0, band->y, draw->view->width, TD_BAND_HEIGHT);
  td_theme_source(draw->cr, td_colour_mix(draw->theme->background, draw->theme->foreground, 0.09));
  cairo_fill(draw->cr);
  td_label_draw(draw->labels, draw->cr, band->title, 11.5, 8, band->y + 3, 0,
                draw->theme->foreground, true);
}

/* It points down if the lane is open, and to the right if a click opens it. */
static void
draw_arrow(const td_timeline_drawing *draw, const td_lane *lane) {
  cairo_save(draw->cr);
  cairo_translate(draw->cr, TD_TIMELINE_GUTTER - 13, lane->y + lane->height / 2);
  if (lane->is_collapsed) cairo_rotate(draw->cr, -M_PI / 2);
  cairo_move_to(draw->cr, -4, -2);
  cairo_line_to(draw->cr, 0, 2);
  cairo_line_to(draw->cr, 4, -2);
  cairo_restore(draw->cr);
  td_theme_source(draw->cr, td_colour_fade(draw->theme->dim, 0.8));
  cairo_set_line_width(draw->cr, 1.2);
  cairo_stroke(draw->cr);
}

static void
draw_lane_title(const td_timeline_drawing *draw, const td_lane *lane) {
  double middle = lane->y + lane->height / 2, pad = lane->is_collapsed ? 3 : 6;
  td_theme_source(draw->cr, td_theme_device(draw->theme, lane->device));
  td_shape_rounded(draw->cr, (td_box){8, lane->y + pad, 4, lane->height - 2 * pad}, 2);
  cairo_fill(draw->cr);
  draw_arrow(draw, lane);
  if (lane->is_collapsed) {
    td_label_draw(draw->labels, draw->cr, lane->title, 11, 20, middle - 8, TITLE_WIDTH,
                  draw->theme->dim, false);
    return;
  }
  td_label_draw(draw->labels, draw->cr, lane->title, 12.5, 20, middle - 16, TITLE_WIDTH,
                draw->theme->foreground, true);
  td_label_draw(draw->labels, draw->cr, lane->note, 10.5, 20, middle, TITLE_WIDTH, draw->theme->dim,
                false);
}

/* Sets cairo to the lanes' own pixels, below the axis; the caller restores it. */
static void
enter_lanes(const td_timeline_drawing *draw) {
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, 0, TD_TIMELINE_AXIS, draw->view->width, draw->view->height);
  cairo_clip(draw->cr);
  cairo_translate(draw->cr, 0, -draw->view->scroll_y);
}

static bool
is_seen(const td_timeline_drawing *draw, const td_lane *lane) {
  double y = lane->y - draw->view->scroll_y;
  return lane->height > 0 && y + lane->height >= TD_TIMELINE_AXIS && y <= draw->view->height;
}

/* Draws in a lane, and nowhere else. */
static void
draw_inside(const td_timeline_drawing *draw, const td_lane *lane,
            void (*part)(const td_timeline_drawing *draw, const td_lane *lane)) {
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, TD_TIMELINE_GUTTER, lane->y,
                  td_timeline_axis_width(draw->view) + TD_TIMELINE_RIGHT, lane->height);
  cairo_clip(draw->cr);
  part(draw, lane);
  cairo_restore(draw->cr);
}

static void
draw_lanes(const td_timeline_drawing *draw) {
  td_timeline *timeline = draw->timeline;
  enter_lanes(draw);
  for (size_t i = 0, n_shown = 0; i < timeline->n_lanes; i++)
    if (timeline->lanes[i].height > 0) draw_lane_ground(draw, &timeline->lanes[i], n_shown++ & 1);
  td_timeline_draw_grid(draw);
  for (size_t i = 0; i < timeline->n_bands; i++)
    draw_band(draw, &timeline->bands[i]);
  for (size_t i = 0; i < timeline->n_lanes; i++) {
    if (!is_seen(draw, &timeline->lanes[i])) continue;
    draw_lane_title(draw, &timeline->lanes[i]);
    draw_inside(draw, &timeline->lanes[i], td_timeline_draw_lane);
  }
  td_timeline_draw_links(draw);
  td_timeline_draw_anomalies(draw);
  cairo_restore(draw->cr);
}

void
td_timeline_draw(td_timeline *timeline, cairo_t *cr, const td_timeline_view *view,
                 const td_theme *theme, td_label_cache *labels) {
  td_timeline_drawing draw = {timeline, cr, view, theme, labels};
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, view->width, view->height);
  cairo_clip(cr);
  td_theme_source(cr, theme->background);
  cairo_paint(cr);
  draw_lanes(&draw);
  td_timeline_draw_axis(&draw);
  cairo_restore(cr);
}

static void
draw_chosen(const td_timeline_drawing *draw) {
  enter_lanes(draw);
  for (size_t i = 0; i < draw->timeline->n_lanes; i++)
    if (is_seen(draw, &draw->timeline->lanes[i]))
      draw_inside(draw, &draw->timeline->lanes[i], td_timeline_draw_chosen);
  td_timeline_draw_anomalies(draw);
  cairo_restore(draw->cr);
}

void
td_timeline_draw_over(td_timeline *timeline, cairo_t *cr, const td_timeline_view *view,
                      const td_theme *theme, td_label_cache *labels) {
  td_timeline_drawing draw = {timeline, cr, view, theme, labels};
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, view->width, view->height);
  cairo_clip(cr);
  if (view->selected != TD_NONE) draw_chosen(&draw);
  enter_lanes(&draw);
  td_timeline_draw_waits(&draw);
  cairo_restore(cr);
  td_timeline_draw_playhead(&draw);
  cairo_restore(cr);
}

/* What is outside of the range grows pale. */
void
td_timeline_draw_range(cairo_t *cr, const td_timeline_view *view, const td_theme *theme,
                       double from_ns, double to_ns) {
  double left = TD_TIMELINE_GUTTER, right = view->width - TD_TIMELINE_RIGHT;
  double from = TD_MAX(TD_MIN(td_timeline_x(view, from_ns), right), left);
  double to = TD_MAX(TD_MIN(td_timeline_x(view, to_ns), right), left);
  cairo_save(cr);
  cairo_rectangle(cr, left, TD_TIMELINE_AXIS, from - left, view->height);
  cairo_rectangle(cr, to, TD_TIMELINE_AXIS, right - to, view->height);
  td_theme_source(cr, td_colour_fade(theme->background, 0.65));
  cairo_fill(cr);
  cairo_rectangle(cr, from, 0, TD_MAX(to - from, 1), TD_TIMELINE_AXIS);
  td_theme_source(cr, td_colour_fade(theme->accent, 0.2));
  cairo_fill(cr);
  cairo_rectangle(cr, from - 1, 0, 1, view->height);
  cairo_rectangle(cr, to, 0, 1, view->height);
  td_theme_source(cr, theme->accent);
  cairo_fill(cr);
  cairo_restore(cr);
}

static uint32_t
hit_lane(const td_lane *lane, const td_timeline_view *view, double x, double y) {
  double row = floor((y - td_lane_first_row(lane)) / lane->row_height);
  double time = td_timeline_time_at(view, x),
         slack = 2 * td_timeline_visible_ns(view) / td_timeline_axis_width(view);
  if (lane->kind == TD_LANE_queue || row < 0 || row >= (double)lane->n_rows || time < 0)
    return TD_NONE;
  const td_span *span = td_spans_at(&lane->rows[(size_t)row], (uint64_t)time, (uint64_t)slack);
  return span && td_span_is_of_node(span) ? span->item : TD_NONE;
}

uint32_t
td_timeline_hit(const td_timeline *timeline, const td_timeline_view *view, double x, double y) {
  if (x < TD_TIMELINE_GUTTER || y < TD_TIMELINE_AXIS) return TD_NONE;
  size_t lane = td_lane_at(timeline, y + view->scroll_y);
  return lane == SIZE_MAX ? TD_NONE : hit_lane(&timeline->lanes[lane], view, x, y + view->scroll_y);
}
