/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/overview.h"

#include "engine/base/alloc.h"
#include "ui/draw/shapes.h"

enum { TITLE = 52, PAD = 12, LEAST_WHY = 90 };

/* Draws a titled panel and moves the origin into it; undone with cairo_restore. */
static void
begin_panel(cairo_t *cr, td_box box, const td_theme *theme) {
  td_shape_rounded(cr, box, 10);
  td_theme_source(cr, td_colour_fade(theme->line, 0.8));
  cairo_set_line_width(cr, 1.5);
  cairo_stroke(cr);
  cairo_save(cr);
  td_shape_rounded(cr, box, 10);
  cairo_clip(cr);
  cairo_translate(cr, box.x, box.y);
}

static void
draw_title(const td_overview *self, cairo_t *cr, double width, const td_theme *theme,
           td_label_cache *labels) {
  td_label_draw(labels, cr, self->title, 21, PAD + 6, 13, width * 0.55, theme->foreground, true);
  td_label_right(labels, cr, self->note, 14, width - PAD - 6, 20, theme->dim, false);
}

static void
draw_graph(const td_overview *self, cairo_t *cr, td_box box, const td_theme *theme,
           td_label_cache *labels) {
  td_graph_view view = {
      .width = box.width, .height = box.height, .selected = TD_NONE, .hovered = TD_NONE};
  td_graph_scene_fit(self->scene, &view);
  begin_panel(cr, box, theme);
  td_graph_scene_draw(self->scene, cr, self->state, &view, theme, labels);
  cairo_restore(cr);
}

static void
draw_queues(const td_overview *self, cairo_t *cr, td_box box, const td_theme *theme,
            td_label_cache *labels) {
  td_queues_view view = {.width = box.width, .height = box.height, .selected = TD_NONE};
  begin_panel(cr, box, theme);
  td_queues_draw(cr, self->catalog, self->state, &view, theme, labels);
  cairo_restore(cr);
}

static void
draw_timeline(const td_overview *self, cairo_t *cr, td_box box, const td_theme *theme,
              td_label_cache *labels) {
  td_timeline_view view = {.width = box.width,
                           .height = box.height,
                           .now_ns = (double)self->state->header->time_ns,
                           .cuts = td_timeline_cuts(self->timeline),
                           .selected = TD_NONE};
  td_timeline_extent(self->timeline, &view.from_ns, &view.to_ns);
  begin_panel(cr, box, theme);
  td_timeline_draw(self->timeline, cr, &view, theme, labels);
  td_timeline_draw_over(self->timeline, cr, &view, theme, labels);
  cairo_restore(cr);
}

static void
draw_why(const td_overview *self, cairo_t *cr, td_box box, const td_theme *theme,
         td_label_cache *labels) {
  begin_panel(cr, box, theme);
  td_theme_source(cr, theme->background);
  cairo_paint(cr);
  td_label_draw(labels, cr, "Why?", 14, 16, 12, 0, theme->foreground, true);
  td_label_paragraph(labels, cr, self->why, 13.5, 16, 38, box.width - 32, box.height - 50,
                     theme->foreground);
  cairo_restore(cr);
}

/* The queues take what they need, the sentence what is left, if that is enough for one. */
static void
draw_right(const td_overview *self, cairo_t *cr, td_box box, const td_theme *theme,
           td_label_cache *labels) {
  double needed = td_queues_height(self->catalog, false), left = box.height - needed - PAD;
  bool room = self->why && left >= LEAST_WHY;
  draw_queues(self, cr, (td_box){box.x, box.y, box.width, room ? needed : box.height}, theme,
              labels);
  if (room)
    draw_why(self, cr, (td_box){box.x, box.y + needed + PAD, box.width, left}, theme, labels);
}

/* Graph to the left, queues to the right, the timeline below both. */
void
td_overview_draw(const td_overview *overview, cairo_t *cr, double width, double height,
                 const td_theme *theme, td_label_cache *labels) {
  double inner = width - 2 * PAD, body = height - TITLE - PAD;
  double below = TD_MIN(td_timeline_height(overview->timeline), body * 0.42);
  double above = body - below - PAD, right = inner * 0.36;
  td_theme_source(cr, td_colour_mix(theme->background, theme->foreground, 0.04));
  cairo_paint(cr);
  draw_title(overview, cr, width, theme, labels);
  draw_graph(overview, cr, (td_box){PAD, TITLE, inner - right - PAD, above}, theme, labels);
  draw_right(overview, cr, (td_box){PAD + inner - right, TITLE, right, above}, theme, labels);
  draw_timeline(overview, cr, (td_box){PAD, TITLE + above + PAD, inner, below}, theme, labels);
}
