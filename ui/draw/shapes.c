/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/shapes.h"

#include "engine/base/alloc.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void
td_shape_rounded(cairo_t *cr, td_box box, double radius) {
  double r = TD_MIN(radius, TD_MIN(box.width, box.height) / 2);
  double right = box.x + box.width, bottom = box.y + box.height;
  cairo_new_sub_path(cr);
  cairo_arc(cr, right - r, box.y + r, r, -M_PI / 2, 0);
  cairo_arc(cr, right - r, bottom - r, r, 0, M_PI / 2);
  cairo_arc(cr, box.x + r, bottom - r, r, M_PI / 2, M_PI);
  cairo_arc(cr, box.x + r, box.y + r, r, M_PI, 3 * M_PI / 2);
  cairo_close_path(cr);
}

typedef enum mark {
  MARK_NONE,
  MARK_RING,
  MARK_PIE,
  MARK_BARS,
  MARK_PLAY,
  MARK_CHECK,
  MARK_SLASH,
  MARK_TRAY,
  MARK_CROSS,
  MARK_DOT
} mark;

/* How a state looks. ground: how much of its colour is in the card's fill. */
static const struct {
  mark mark;
  double ground, border;
  bool dashed;
} looks[TD_N_NODE_STATES] = {
    [TD_NODE_created] = {MARK_NONE, 0, 1, true},
    [TD_NODE_waiting] = {MARK_RING, 0, 1.2, false},
    [TD_NODE_partial] = {MARK_PIE, 0.04, 1.4, false},
    [TD_NODE_queued] = {MARK_BARS, 0.20, 2, false},
    [TD_NODE_running] = {MARK_PLAY, 1, 2.5, false},
    [TD_NODE_done] = {MARK_CHECK, 0.13, 1.2, false},
    [TD_NODE_skipped] = {MARK_SLASH, 0.08, 1, true},
    [TD_NODE_captured] = {MARK_TRAY, 0.20, 1.6, false},
    [TD_NODE_failed] = {MARK_CROSS, 0.22, 2.5, false},
    [TD_NODE_released] = {MARK_DOT, 0.05, 1, true},
    [TD_NODE_absent] = {MARK_NONE, 0, 0.8, true},
};

static void
path_check(cairo_t *cr, double x, double y, double r) {
  cairo_move_to(cr, x - r * 0.85, y + r * 0.05);
  cairo_line_to(cr, x - r * 0.25, y + r * 0.65);
  cairo_line_to(cr, x + r * 0.9, y - r * 0.65);
}

static void
draw_pie(cairo_t *cr, double x, double y, double r, double share) {
  cairo_arc(cr, x, y, r * 0.9, 0, 2 * M_PI);
  cairo_stroke(cr);
  cairo_move_to(cr, x, y);
  cairo_arc(cr, x, y, r * 0.9, -M_PI / 2, -M_PI / 2 + 2 * M_PI * share);
  cairo_close_path(cr);
  cairo_fill(cr);
}

static void
draw_bars(cairo_t *cr, double x, double y, double r) {
  for (int i = -1; i <= 1; i++) {
    cairo_move_to(cr, x - r * 0.8, y + i * r * 0.65);
    cairo_line_to(cr, x + r * (i < 0 ? 0.8 : i == 0 ? 0.45 : 0.1), y + i * r * 0.65);
  }
  cairo_stroke(cr);
}

static void
draw_tray(cairo_t *cr, double x, double y, double r) {
  cairo_move_to(cr, x - r * 0.85, y + r * 0.15);
  cairo_line_to(cr, x - r * 0.85, y + r * 0.85);
  cairo_line_to(cr, x + r * 0.85, y + r * 0.85);
  cairo_line_to(cr, x + r * 0.85, y + r * 0.15);
  cairo_move_to(cr, x, y - r * 0.9);
  cairo_line_to(cr, x, y + r * 0.35);
  cairo_move_to(cr, x - r * 0.4, y);
  cairo_line_to(cr, x, y + r * 0.4);
  cairo_line_to(cr, x + r * 0.4, y);
  cairo_stroke(cr);
}

static void
draw_play(cairo_t *cr, double x, double y, double r) {
  cairo_move_to(cr, x - r * 0.6, y - r * 0.85);
  cairo_line_to(cr, x + r * 0.85, y);
  cairo_line_to(cr, x - r * 0.6, y + r * 0.85);
  cairo_close_path(cr);
  cairo_fill(cr);
}

void
td_shape_state_mark(cairo_t *cr, td_node_state state, double share, double x, double y, double size,
                    td_colour colour) {
  double r = size / 2;
  td_theme_source(cr, colour);
  cairo_set_line_width(cr, size * 0.15);
  cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  cairo_new_path(cr);
  switch (looks[state].mark) {
  case MARK_NONE:
    break;
  case MARK_RING:
    draw_pie(cr, x, y, r, 0);
    break;
  case MARK_PIE:
    draw_pie(cr, x, y, r, share);
    break;
  case MARK_BARS:
    draw_bars(cr, x, y, r);
    break;
  case MARK_PLAY:
    draw_play(cr, x, y, r);
    break;
  case MARK_TRAY:
    draw_tray(cr, x, y, r);
    break;
  case MARK_CHECK:
    path_check(cr, x, y, r);
    break;
  case MARK_DOT:
    cairo_arc(cr, x, y, r * 0.4, 0, 2 * M_PI);
    break;
  case MARK_CROSS:
    cairo_move_to(cr, x - r * 0.7, y - r * 0.7);
    cairo_line_to(cr, x + r * 0.7, y + r * 0.7);
    cairo_move_to(cr, x + r * 0.7, y - r * 0.7);
    cairo_line_to(cr, x - r * 0.7, y + r * 0.7);
    break;
  case MARK_SLASH:
    cairo_arc(cr, x, y, r * 0.85, 0, 2 * M_PI);
    cairo_move_to(cr, x - r * 0.55, y + r * 0.55);
    cairo_line_to(cr, x + r * 0.55, y - r * 0.55);
    break;
  }
  cairo_stroke(cr);
}

td_colour
td_shape_fill_colour(td_node_state state, const td_theme *theme) {
  double ground = looks[state].ground * (theme->dark && looks[state].ground < 1 ? 1.35 : 1);
  return td_colour_mix(theme->card, theme->node_fill[state], ground);
}

td_colour
td_shape_text_colour(td_node_state state, const td_theme *theme) {
  if (state == TD_NODE_running) return (td_colour){1, 1, 1, 1};
  if (state == TD_NODE_created || state == TD_NODE_absent || state == TD_NODE_released ||
      state == TD_NODE_skipped)
    return theme->dim;
  return theme->foreground;
}

static void
glow(cairo_t *cr, td_box box, double radius, td_colour colour) {
  for (int i = 4; i >= 1; i--) {
    double grow = i * 2.6;
    td_box around = {box.x - grow, box.y - grow, box.width + 2 * grow, box.height + 2 * grow};
    td_shape_rounded(cr, around, radius + grow);
    td_theme_source(cr, td_colour_fade(colour, 0.10));
    cairo_fill(cr);
  }
}

static void
fill_share(cairo_t *cr, td_box box, double radius, double share, td_colour colour) {
  cairo_save(cr);
  td_shape_rounded(cr, box, radius);
  cairo_clip(cr);
  cairo_rectangle(cr, box.x, box.y, box.width * share, box.height);
  td_theme_source(cr, colour);
  cairo_fill(cr);
  cairo_restore(cr);
}

void
td_shape_card(cairo_t *cr, td_box box, double radius, td_node_state state, double share,
              const td_theme *theme) {
  td_colour colour = theme->node_fill[state];
  bool faint = state == TD_NODE_absent;
  if (state == TD_NODE_running) glow(cr, box, radius, colour);
  if (!faint && !looks[state].dashed) {
    td_box below = {box.x, box.y + 1.5, box.width, box.height};
    td_shape_rounded(cr, below, radius);
    cairo_set_source_rgba(cr, 0, 0, 0, theme->dark ? 0.35 : 0.07);
    cairo_fill(cr);
  }
  td_shape_rounded(cr, box, radius);
  td_theme_source(cr, td_colour_fade(td_shape_fill_colour(state, theme), faint ? 0.5 : 1));
  cairo_fill(cr);
  if (state == TD_NODE_partial) fill_share(cr, box, radius, share, td_colour_fade(colour, 0.30));
  static const double dashes[] = {4, 3};
  td_shape_rounded(cr, box, radius);
  td_theme_source(cr, colour);
  cairo_set_line_width(cr, looks[state].border);
  if (looks[state].dashed) cairo_set_dash(cr, dashes, 2, 0);
  cairo_stroke(cr);
  cairo_set_dash(cr, NULL, 0, 0);
}

double
td_shape_badge(cairo_t *cr, td_label_cache *labels, const char *text, double size, double x,
               double y, td_colour ground) {
  double width, height;
  td_label_size(labels, text, size, true, &width, &height);
  td_box box = {x - width / 2 - size * 0.45, y - height / 2 - 1, width + size * 0.9, height + 2};
  td_shape_rounded(cr, box, box.height / 2);
  td_theme_source(cr, ground);
  cairo_fill(cr);
  td_label_draw(labels, cr, text, size, x - width / 2, y - height / 2, 0, (td_colour){1, 1, 1, 1},
                true);
  return box.width;
}

void
td_shape_hatch(cairo_t *cr, td_box box, double distance, double width, td_colour colour) {
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  cairo_clip(cr);
  double first = floor((box.x - box.height) / distance) * distance;
  for (double x = first; x < box.x + box.width; x += distance) {
    cairo_move_to(cr, x, box.y + box.height);
    cairo_line_to(cr, x + box.height, box.y);
  }
  td_theme_source(cr, colour);
  cairo_set_line_width(cr, width);
  cairo_stroke(cr);
  cairo_restore(cr);
}

void
td_shape_diamond(cairo_t *cr, double x, double y, double radius, td_colour colour) {
  cairo_move_to(cr, x, y - radius);
  cairo_line_to(cr, x + radius, y);
  cairo_line_to(cr, x, y + radius);
  cairo_line_to(cr, x - radius, y);
  cairo_close_path(cr);
  td_theme_source(cr, colour);
  cairo_fill(cr);
}

void
td_label_right(td_label_cache *labels, cairo_t *cr, const char *text, double size, double x,
               double y, td_colour colour, bool bold) {
  double width;
  td_label_size(labels, text, size, bold, &width, NULL);
  td_label_draw(labels, cr, text, size, x - width, y, 0, colour, bold);
}

void
td_label_middle(td_label_cache *labels, cairo_t *cr, const char *text, double size, double x,
                double y, td_colour colour, bool bold) {
  double width;
  td_label_size(labels, text, size, bold, &width, NULL);
  td_label_draw(labels, cr, text, size, x - width / 2, y, 0, colour, bold);
}
