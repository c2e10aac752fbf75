/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/node_label.h"
#include "ui/draw/timeline.h"

#include <inttypes.h>
#include <math.h>

static const double least_with_name = 22, least_with_cut_name = 48, least_height_with_name = 14;
enum { NAME_SIZE = 11 };

static double
span_height(const td_lane *lane) {
  return lane->row_height > 10 ? lane->row_height - 3 : lane->row_height * 0.85;
}

static td_colour
span_colour(const td_timeline_drawing *draw, const td_lane *lane, const td_span *span) {
  const td_theme *theme = draw->theme;
  const td_catalog *catalog = draw->timeline->catalog;
  if (span->kind >= TD_SPAN_HOOK) return theme->node_fill[TD_NODE_captured];
  if (td_span_is_wait(span)) return theme->warning;
  if (span->kind == TD_SPAN_CALLBACK) return theme->thread_fill[TD_thread_activity_post_processing];
  td_colour colour = span->kind == TD_SPAN_KERNEL
                         ? td_theme_device(theme, lane->device)
                         : theme->thread_fill[TD_thread_activity_processing];
  const td_catalog_node *node = td_catalog_node_find(catalog, span->item);
  const char *name = node ? node->name : "";
  uint32_t hash = 5381;
  for (; *name; name++)
    hash = hash * 33 + (unsigned char)*name;
  return td_colour_mix(colour, theme->card, (hash >> 4) % 5 * 0.085);
}

/* The caller frees it. */
static char *
span_title(const td_timeline_drawing *draw, const td_span *span, double room) {
  char *title = td_span_title(draw->timeline, span);
  return title ? title
               : td_node_label_fit(draw->labels, draw->timeline->catalog, span->item, NAME_SIZE,
                                   room);
}

static bool
is_hatched(const td_span *span) {
  return span->kind >= TD_SPAN_HOOK || td_span_is_wait(span);
}

static bool
is_ahead(const td_timeline_drawing *draw, const td_span *span) {
  return (double)span->begin > draw->view->now_ns;
}

static void
draw_name(const td_timeline_drawing *draw, const td_span *span, td_box box) {
  const td_catalog *catalog = draw->timeline->catalog;
  bool is_named = td_span_is_of_node(span) ? td_catalog_has_node(catalog, span->item)
                                           : span->kind != TD_SPAN_LOCK;
  if (!is_named) return;
  double width, room = box.width - 8;
  char *name = span_title(draw, span, room);
  bool is_pale = is_hatched(span) || is_ahead(draw, span);
  td_colour colour = is_pale ? draw->theme->foreground : (td_colour){1, 1, 1, 0.96};
  td_label_size(draw->labels, name, NAME_SIZE, false, &width, NULL);
  double most = width <= room ? 0 : floor(room / 8) * 8;
  if (width <= room || box.width >= least_with_cut_name)
    td_label_draw(draw->labels, draw->cr, name, NAME_SIZE, box.x + 5, box.y + 1.5, most, colour,
                  false);
  free(name);
}

/* What lies after the playhead is paler: it has not happened yet. */
static void
draw_span(const td_timeline_drawing *draw, const td_lane *lane, const td_span *span, td_box box) {
  td_colour colour = span_colour(draw, lane, span);
  bool hatched = is_hatched(span);
  if (is_ahead(draw, span)) colour = td_colour_fade(colour, 0.38);
  if (box.width >= 4)
    td_shape_rounded(draw->cr, box, 3);
  else
    cairo_rectangle(draw->cr, box.x, box.y, TD_MAX(box.width, 1), box.height);
  td_theme_source(draw->cr, hatched ? td_colour_fade(colour, 0.55) : colour);
  cairo_fill(draw->cr);
  if (hatched && box.width >= 4) td_shape_hatch(draw->cr, box, 5, 1.6, colour);
  if (box.width >= least_with_name && box.height >= least_height_with_name)
    draw_name(draw, span, box);
}

static td_box
span_box(const td_timeline_drawing *draw, const td_lane *lane, const td_span *span, double y) {
  double begin = td_timeline_x(draw->view, (double)span->begin);
  double end = td_timeline_x(draw->view, (double)span->end), gap = end - begin > 3 ? 0.6 : 0;
  return (td_box){begin, y, TD_MAX(end - begin - gap, 1), span_height(lane)};
}

/* A span that is too short to see, in a pixel that another span has filled. */
static bool
is_covered(const td_timeline_drawing *draw, const td_span *span, double last) {
  double begin = td_timeline_x(draw->view, (double)span->begin);
  return td_timeline_x(draw->view, (double)span->end) - begin < 0.5 && floor(begin) == last;
}

static void
draw_spans(const td_timeline_drawing *draw, const td_lane *lane, const td_spans *row, double y) {
  double last = -1;
  for (size_t i = td_spans_first(row, (uint64_t)TD_MAX(draw->view->from_ns, 0)); i < row->n; i++) {
    const td_span *span = &row->spans[i];
    if ((double)span->begin > draw->view->to_ns) return;
    if (is_covered(draw, span, last)) continue;
    td_box box = span_box(draw, lane, span, y);
    last = floor(box.x);
    draw_span(draw, lane, span, box);
  }
}

/* With more spans than pixels, each pixel shows which share of it is covered. */
static void
draw_dense(const td_timeline_drawing *draw, const td_lane *lane, const td_spans *row, double y) {
  double right = draw->view->width - TD_TIMELINE_RIGHT;
  for (double x = TD_TIMELINE_GUTTER; x < right; x++) {
    double from = TD_MAX(td_timeline_time_at(draw->view, x), 0),
           to = td_timeline_time_at(draw->view, x + 1);
    if (to <= from) continue;
    double share = td_spans_share(row, (uint64_t)from, (uint64_t)ceil(to));
    size_t first = td_spans_first(row, (uint64_t)from);
    if (share <= 0 || first == row->n) continue;
    td_colour colour = span_colour(draw, lane, &row->spans[first]);
    if (from > draw->view->now_ns) colour = td_colour_fade(colour, 0.38);
    td_theme_source(draw->cr, td_colour_fade(colour, 0.25 + 0.75 * share));
    cairo_rectangle(draw->cr, x, y, 1, span_height(lane));
    cairo_fill(draw->cr);
  }
}

static bool
is_dense(const td_timeline_drawing *draw, const td_spans *row) {
  size_t first = td_spans_first(row, (uint64_t)TD_MAX(draw->view->from_ns, 0));
  size_t last = td_spans_first(row, (uint64_t)TD_MAX(draw->view->to_ns, 0));
  return (double)(last - first) > 4 * draw->view->width;
}

static double
row_y(const td_lane *lane, size_t r) {
  return td_lane_first_row(lane) + (double)r * lane->row_height;
}

static void
draw_rows(const td_timeline_drawing *draw, const td_lane *lane) {
  for (size_t r = 0; r < lane->n_rows; r++)
    (is_dense(draw, &lane->rows[r]) ? draw_dense : draw_spans)(draw, lane, &lane->rows[r],
                                                               row_y(lane, r));
}

static void
draw_outline(const td_timeline_drawing *draw, td_box box) {
  td_shape_rounded(draw->cr,
                   (td_box){box.x - 1, box.y - 1, TD_MAX(box.width, 2) + 2, box.height + 2}, 4);
  td_theme_source(draw->cr, draw->theme->foreground);
  cairo_set_line_width(draw->cr, 2);
  cairo_stroke(draw->cr);
}

/* The picture may lack a chosen span that is very short. */
static void
draw_chosen_in(const td_timeline_drawing *draw, const td_lane *lane, const td_spans *row,
               double y) {
  for (size_t i = td_spans_first(row, (uint64_t)TD_MAX(draw->view->from_ns, 0)); i < row->n; i++) {
    const td_span *span = &row->spans[i];
    if ((double)span->begin > draw->view->to_ns) return;
    if (span->item != draw->view->selected || !td_span_is_of_node(span)) continue;
    td_box box = span_box(draw, lane, span, y);
    if (box.width <= 1) draw_span(draw, lane, span, box);
    draw_outline(draw, box);
  }
}

static bool
is_busy(uint32_t activity) {
  return activity != TD_thread_activity_outside && activity != TD_thread_activity_idle &&
         activity != TD_thread_activity_ended;
}

/* A thin strip of what the thread does; doing nothing is a hair line. */
static void
draw_activity(const td_timeline_drawing *draw, const td_lane *lane) {
  const td_spans *row = &lane->activity;
  double y = lane->y + TD_LANE_PAD, last = -1;
  for (size_t i = td_spans_first(row, (uint64_t)TD_MAX(draw->view->from_ns, 0)); i < row->n; i++) {
    const td_span *span = &row->spans[i];
    if ((double)span->begin > draw->view->to_ns) return;
    double begin = td_timeline_x(draw->view, (double)span->begin),
           end = td_timeline_x(draw->view, (double)span->end);
    if (end - begin < 0.5 && floor(begin) == last) continue;
    last = floor(begin);
    bool busy = is_busy(span->kind);
    td_colour colour = draw->theme->thread_fill[span->kind];
    if ((double)span->begin > draw->view->now_ns) colour = td_colour_fade(colour, 0.4);
    td_theme_source(draw->cr, colour);
    cairo_rectangle(draw->cr, begin, busy ? y : y + TD_LANE_ACTIVITY / 2.0 - 0.5,
                    TD_MAX(end - begin, 0.8), busy ? TD_LANE_ACTIVITY : 1);
    cairo_fill(draw->cr);
  }
}

/* A step per sample between two x. */
static void
path_steps(const td_timeline_drawing *draw, const td_lane *lane, size_t first, size_t end,
           double base, double unit) {
  double value = first ? lane->samples[first - 1].value : 0;
  cairo_line_to(draw->cr, TD_TIMELINE_GUTTER, base - value * unit);
  for (size_t i = first; i < end; i++) {
    double x = td_timeline_x(draw->view, (double)lane->samples[i].time);
    cairo_line_to(draw->cr, x, base - value * unit);
    value = lane->samples[i].value;
    cairo_line_to(draw->cr, x, base - value * unit);
  }
  cairo_line_to(draw->cr, draw->view->width - TD_TIMELINE_RIGHT, base - value * unit);
}

/* The greatest length of each pixel: a queue that is full for a moment must not look empty. */
static void
path_peaks(const td_timeline_drawing *draw, const td_lane *lane, double base, double unit) {
  double right = draw->view->width - TD_TIMELINE_RIGHT;
  for (double x = TD_TIMELINE_GUTTER; x < right; x++) {
    double from = td_timeline_time_at(draw->view, x), to = td_timeline_time_at(draw->view, x + 1);
    double most = td_peaks_most(lane->samples, lane->peaks, lane->n_samples, from, to);
    cairo_line_to(draw->cr, x, base - most * unit);
    cairo_line_to(draw->cr, TD_MIN(x + 1, right), base - most * unit);
  }
}

/* The path of a queue's length, over the whole width: before and after the playhead alike. */
static void
path_length(const td_timeline_drawing *draw, const td_lane *lane) {
  double base = lane->y + lane->height - 5, above = lane->is_collapsed ? 8 : 14;
  double unit = (lane->height - above) / TD_MAX(lane->most, 1u);
  double left = TD_TIMELINE_GUTTER, right = draw->view->width - TD_TIMELINE_RIGHT;
  size_t first =
      td_sample_after(lane->samples, lane->n_samples, td_timeline_time_at(draw->view, left));
  size_t end =
      td_sample_after(lane->samples, lane->n_samples, td_timeline_time_at(draw->view, right));
  cairo_move_to(draw->cr, left, base);
  if ((double)(end - first) > 4 * (right - left))
    path_peaks(draw, lane, base, unit);
  else
    path_steps(draw, lane, first, end, base, unit);
}

static void
fill_length(const td_timeline_drawing *draw, const td_lane *lane, double from, double to,
            double strength) {
  td_colour colour = draw->theme->node_fill[TD_NODE_queued];
  if (to <= from) return;
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, from, lane->y, to - from, lane->height);
  cairo_clip(draw->cr);
  path_length(draw, lane);
  cairo_path_t *line = cairo_copy_path(draw->cr);
  cairo_line_to(draw->cr, draw->view->width - TD_TIMELINE_RIGHT, lane->y + lane->height - 5);
  cairo_close_path(draw->cr);
  td_theme_source(draw->cr, td_colour_fade(colour, 0.35 * strength));
  cairo_fill(draw->cr);
  cairo_append_path(draw->cr, line);
  cairo_path_destroy(line);
  td_theme_source(draw->cr, td_colour_fade(colour, strength));
  cairo_set_line_width(draw->cr, 1.2);
  cairo_stroke(draw->cr);
  cairo_restore(draw->cr);
}

static void
draw_length(const td_timeline_drawing *draw, const td_lane *lane) {
  double left = TD_TIMELINE_GUTTER, right = draw->view->width - TD_TIMELINE_RIGHT;
  double now = TD_MIN(TD_MAX(td_timeline_x(draw->view, draw->view->now_ns), left), right);
  fill_length(draw, lane, left, now, 1);
  fill_length(draw, lane, now, right, 0.45);
  if (lane->is_collapsed) return;
  char *most = td_format(td_translate("max %u"), lane->most);
  td_label_right(draw->labels, draw->cr, most, 9.5, right - 2, lane->y + 2, draw->theme->dim,
                 false);
  free(most);
}

void
td_timeline_draw_chosen(const td_timeline_drawing *draw, const td_lane *lane) {
  for (size_t r = 0; r < lane->n_rows; r++)
    if (!is_dense(draw, &lane->rows[r])) draw_chosen_in(draw, lane, &lane->rows[r], row_y(lane, r));
}

void
td_timeline_draw_lane(const td_timeline_drawing *draw, const td_lane *lane) {
  if (lane->kind == TD_LANE_queue) {
    draw_length(draw, lane);
    return;
  }
  if (lane->kind == TD_LANE_thread && !lane->is_collapsed) draw_activity(draw, lane);
  draw_rows(draw, lane);
}
