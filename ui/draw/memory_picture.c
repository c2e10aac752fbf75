/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/memory_picture.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/shapes.h"
#include "ui/geometry/format.h"

#include <math.h>
#include <string.h>

enum { PAD = 8, LEGEND = 34, SIZE = 11, SQUARE = 9 };

static const char *const groups[TD_N_HOLDING_GROUPS] = {
    [TD_HELD_saved] = TD_N("saved tensors"),
    [TD_HELD_kept] = TD_N("kept by keep_graph"),
    [TD_HELD_buffer] = TD_N("input buffers"),
    [TD_HELD_gradient] = TD_N("gradients"),
};

const char *
td_memory_picture_group(td_holding_group group) {
  return groups[group];
}

void
td_memory_areas_init(td_memory_areas *areas, const td_memory *memory) {
  areas->samples = memory->samples;
  memcpy(areas->is_known, memory->is_known, sizeof areas->is_known);
  areas->peak_ns = memory->peak.seq == UINT64_MAX ? UINT64_MAX : memory->peak.ns;
}

static td_colour
colour_of(const td_theme *theme, int group) {
  const td_colour colours[TD_N_HOLDING_GROUPS] = {
      [TD_HELD_saved] = theme->accent,
      [TD_HELD_kept] = theme->node_fill[TD_NODE_captured],
      [TD_HELD_buffer] = theme->node_fill[TD_NODE_queued],
      [TD_HELD_gradient] = theme->node_fill[TD_NODE_done],
  };
  return colours[group];
}

static double
width_of(const td_memory_view *view) {
  return TD_MAX(view->width - 2 * PAD, 1);
}

static double
x_of(const td_memory_view *view, double ns) {
  double span = view->to_ns - view->from_ns;
  return PAD + (span > 0 ? TD_MIN(TD_MAX((ns - view->from_ns) / span, 0), 1) : 0) * width_of(view);
}

double
td_memory_view_time_at(const td_memory_view *view, double x) {
  double share = TD_MIN(TD_MAX((x - PAD) / width_of(view), 0), 1);
  return view->from_ns + share * (view->to_ns - view->from_ns);
}

const td_memory_level *
td_memory_picture_at(const td_memory_areas *areas, double ns) {
  const td_memory_samples *samples = &areas->samples;
  if (!samples->n || ns < (double)samples->begin_ns) return NULL;
  double at = (ns - (double)samples->begin_ns) / (double)samples->interval_ns;
  return &samples->items[TD_MIN((uint32_t)TD_MIN(at, TD_MEMORY_SAMPLES), samples->n - 1)];
}

static uint64_t
most_of(const td_memory_areas *areas) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < areas->samples.n; i++)
    most = TD_MAX(most, td_memory_total(&areas->samples.items[i]));
  return most;
}

/* The sum of the groups up to one, from below. */
static uint64_t
sum_to(const td_memory_level *level, int group) {
  uint64_t sum = 0;
  for (int i = 0; i <= group; i++)
    sum += level->bytes[i];
  return sum;
}

/* An area for one group and all below it: those below are painted over it. */
static void
draw_area(const td_memory_areas *areas, cairo_t *cr, const td_memory_view *view, int group,
          double most) {
  double ground = view->height - PAD, room = ground - LEGEND, last = PAD;
  cairo_move_to(cr, PAD, ground);
  for (double x = PAD; x < PAD + width_of(view); x++) {
    const td_memory_level *level =
        td_memory_picture_at(areas, td_memory_view_time_at(view, x + 0.5));
    double y = ground - (level ? (double)sum_to(level, group) / most * room : 0);
    cairo_line_to(cr, x, y);
    cairo_line_to(cr, last = x + 1, y);
  }
  cairo_line_to(cr, last, ground);
  cairo_close_path(cr);
  cairo_fill(cr);
}

/* What the tape does not tell has no area. Whoever shows the picture says why. */
static void
draw_legend(const td_memory_areas *areas, cairo_t *cr, const td_memory_view *view,
            const td_theme *theme, td_label_cache *labels) {
  char *bytes = td_format_bytes(most_of(areas)),
       *most = td_format(td_translate("%s at most"), bytes);
  double x = PAD, y = 2, width;
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    if (!areas->is_known[group]) continue;
    td_label_size(labels, groups[group], SIZE, false, &width, NULL);
    if (x > PAD && x + SQUARE + 5 + width > view->width - PAD) {
      x = PAD;
      y += 15;
    }
    td_shape_rounded(cr, (td_box){x, y + 3, SQUARE, SQUARE}, 2);
    td_theme_source(cr, colour_of(theme, group));
    cairo_fill(cr);
    td_label_draw(labels, cr, groups[group], SIZE, x + SQUARE + 5, y, 0, theme->dim, false);
    x += SQUARE + 5 + width + 12;
  }
  td_label_right(labels, cr, most, SIZE, view->width - PAD, LEGEND - 17, theme->foreground, true);
  free(most);
  free(bytes);
}

static void
draw_line(cairo_t *cr, double x1, double y1, double x2, double y2, td_colour colour) {
  cairo_move_to(cr, x1, y1);
  cairo_line_to(cr, x2, y2);
  cairo_set_line_width(cr, 1);
  td_theme_source(cr, colour);
  cairo_stroke(cr);
}

void
td_memory_picture_draw(const td_memory_areas *areas, cairo_t *cr, const td_memory_view *view,
                       const td_theme *theme, td_label_cache *labels) {
  double most = (double)most_of(areas), ground = view->height - PAD + 0.5;
  td_theme_source(cr, theme->background);
  cairo_rectangle(cr, 0, 0, view->width, view->height);
  cairo_fill(cr);
  for (int group = TD_N_HOLDING_GROUPS; most > 0 && group-- > 0;) {
    td_theme_source(cr, td_colour_mix(theme->background, colour_of(theme, group), 0.8));
    draw_area(areas, cr, view, group, most);
  }
  draw_line(cr, PAD, LEGEND - 0.5, view->width - PAD, LEGEND - 0.5,
            td_colour_fade(theme->line, 0.6));
  draw_line(cr, PAD, ground, view->width - PAD, ground, theme->line);
  if (areas->peak_ns != UINT64_MAX)
    td_shape_diamond(cr, x_of(view, (double)areas->peak_ns), LEGEND, 4, theme->foreground);
  draw_legend(areas, cr, view, theme, labels);
}

void
td_memory_picture_draw_over(cairo_t *cr, const td_memory_view *view, const td_theme *theme) {
  double x = floor(x_of(view, view->now_ns));
  cairo_rectangle(cr, x - 1, LEGEND, 2, view->height - LEGEND);
  td_theme_source(cr, theme->foreground);
  cairo_fill(cr);
}
