/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Folded groups: a card with the module's name, its number of nodes, and how far they are. */
#include "engine/base/alloc.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/scene.h"

enum {
  RADIUS = 12,
  EDGE = 14,
  BAR_HEIGHT = 8,
  NAME_SIZE = 15,
  LARGEST_NAME = 46,
  FACTS_SIZE = 11,
  SHEET = 5
};

/* A run has sheets behind its card. */
static void
draw_sheets(const td_scene_draw *draw, td_box box, const td_scene_block *block) {
  for (int i = block->n_modules > 1 ? 2 : 0; i > 0; i--) {
    td_box sheet = {box.x + SHEET * i, box.y + SHEET * i, box.width, box.height};
    td_shape_rounded(draw->cr, sheet, RADIUS);
    td_theme_source(draw->cr, draw->theme->card);
    cairo_fill_preserve(draw->cr);
    td_theme_source(draw->cr, draw->theme->line);
    cairo_set_line_width(draw->cr, 1.2);
    cairo_stroke(draw->cr);
  }
}

static td_colour
outline_colour(const td_scene_draw *draw, td_node_state state) {
  bool quiet = draw->view->overlay || state == TD_NODE_absent || state == TD_NODE_created;
  return td_colour_mix(draw->theme->line, quiet ? draw->theme->dim : draw->theme->node_fill[state],
                       quiet ? 0.5 : 1);
}

static void
draw_ground(const td_scene_draw *draw, uint32_t i, td_box box, td_node_state state) {
  td_shape_rounded(draw->cr, box, RADIUS);
  td_theme_source(draw->cr, draw->theme->card);
  cairo_fill(draw->cr);
  td_scene_tint(draw, i, box, RADIUS);
  td_shape_rounded(draw->cr, box, RADIUS);
  td_theme_source(draw->cr, outline_colour(draw, state));
  cairo_set_line_width(draw->cr, 2.2);
  cairo_stroke(draw->cr);
}

/* What is done stands on the left, and what has not begun on the right. */
static const td_node_state bar_order[] = {TD_NODE_failed,  TD_NODE_done,    TD_NODE_captured,
                                          TD_NODE_skipped, TD_NODE_running, TD_NODE_queued,
                                          TD_NODE_partial};

static void
draw_bar(const td_scene_draw *draw, td_box bar, const td_scene_block *block) {
  uint32_t n[TD_N_NODE_STATES];
  double x = bar.x;
  td_scene_count_states(draw, block, n);
  cairo_save(draw->cr);
  td_shape_rounded(draw->cr, bar, bar.height / 2);
  td_theme_source(draw->cr, td_colour_mix(draw->theme->card, draw->theme->line, 0.7));
  cairo_fill_preserve(draw->cr);
  cairo_clip(draw->cr);
  for (size_t i = 0; i < TD_N_ELEMENTS(bar_order); i++) {
    uint32_t count = n[bar_order[i]];
    if (bar_order[i] == TD_NODE_done) count += n[TD_NODE_released] * draw->pass_begun;
    double width = bar.width * count / block->n_members;
    td_theme_source(draw->cr, draw->theme->node_fill[bar_order[i]]);
    cairo_rectangle(draw->cr, x, bar.y, count ? TD_MAX(width, 3) : 0, bar.height);
    cairo_fill(draw->cr);
    x += width;
  }
  cairo_restore(draw->cr);
}

static uint32_t
count_done(const td_scene_draw *draw, const td_scene_block *block) {
  uint32_t n[TD_N_NODE_STATES];
  td_scene_count_states(draw, block, n);
  return n[TD_NODE_done] + n[TD_NODE_captured] + n[TD_NODE_skipped] +
         (draw->pass_begun ? n[TD_NODE_released] : 0);
}

/* The total of the overlay, else how many of the nodes are done. The caller frees. */
static char *
right_text(const td_scene_draw *draw, uint32_t i, const td_scene_block *block) {
  const td_overlay_value *heat = td_scene_heat(draw, i);
  if (heat) return td_graph_scene_figure(draw->view->overlay, heat->value);
  if (draw->view->overlay || !draw->pass_begun) return td_dup_string("");
  return td_format("%u/%u", count_done(draw, block), block->n_members);
}

/* From nearer, the facts stand below the name. */
static void
draw_facts(const td_scene_draw *draw, uint32_t i, td_box box, const td_scene_block *block) {
  td_colour quiet = td_colour_mix(draw->theme->foreground, draw->theme->card, 0.3);
  double y = box.y + 33, right = box.x + box.width - EDGE, width;
  char *text = right_text(draw, i, block);
  td_label_size(draw->labels, text, FACTS_SIZE, true, &width, NULL);
  td_label_draw(draw->labels, draw->cr, draw->scene->nodes[i].number, FACTS_SIZE, box.x + EDGE, y,
                right - width - box.x - EDGE - 8, quiet, false);
  td_label_right(draw->labels, draw->cr, text, FACTS_SIZE, right, y, draw->theme->foreground, true);
  free(text);
}

/* From afar, the name takes the place of the facts. */
static void
draw_name(const td_scene_draw *draw, uint32_t i, td_box box, bool near) {
  double size = near ? NAME_SIZE : TD_MIN(LARGEST_NAME, 12 / draw->view->scale), width, height;
  double room = box.width - 2 * EDGE - (near ? 18 : 0);
  const char *name = draw->scene->nodes[i].name;
  td_label_size(draw->labels, name, size, true, &width, &height);
  if (!near && width > room) {
    size = TD_MAX(size * room / width, 6 / draw->view->scale);
    td_label_size(draw->labels, name, size, true, &width, &height);
  }
  double below = draw->view->overlay ? 0 : EDGE;
  double y = near ? box.y + 10 : box.y + (box.height - below - height) / 2;
  td_label_draw(draw->labels, draw->cr, name, size, box.x + EDGE, y, room, draw->theme->foreground,
                true);
}

void
td_scene_draw_block(const td_scene_draw *draw, uint32_t i) {
  const td_scene_block *block = td_scene_block_of(draw->scene, i);
  if (!block) return;
  td_box box = td_scene_box(draw->scene, i);
  td_node_state state = td_scene_state(draw, i);
  bool near = draw->view->scale >= td_scale_full;
  draw_sheets(draw, box, block);
  draw_ground(draw, i, box, state);
  draw_name(draw, i, box, near);
  if (near) draw_facts(draw, i, box, block);
  if (near && !draw->view->overlay)
    td_shape_state_mark(draw->cr, state, 0.5, box.x + box.width - EDGE - 4, box.y + 19, 11,
                        outline_colour(draw, state));
  td_box bar = {box.x + EDGE, box.y + box.height - EDGE - BAR_HEIGHT + 2, box.width - 2 * EDGE,
                BAR_HEIGHT};
  if (!draw->view->overlay) draw_bar(draw, bar, block);
}
