/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The figures of an overlay on the cards of a graph, and the scale that explains their colours. */
#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/scene.h"
#include "ui/geometry/format.h"

#include <math.h>

enum { SIZE = 11, BAR_WIDTH = 120, BAR_HEIGHT = 11 };

const td_overlay_value *
td_scene_heat(const td_scene_draw *draw, uint32_t i) {
  const td_overlay *overlay = draw->view->overlay;
  const td_scene_total *totals = draw->scene->totals;
  if (!overlay) return NULL;
  if (totals) return totals[i].is_known ? &totals[i].value : NULL;
  return td_overlay_find(overlay, draw->scene->nodes[i].node);
}

/* Times and bytes of a block add up; of others the strongest counts. */
static bool
adds_up(td_overlay_kind kind) {
  return kind == TD_OVERLAY_time || kind == TD_OVERLAY_bytes || kind == TD_OVERLAY_critical;
}

static void
add_value(td_scene_total *self, const td_overlay_value *value, td_overlay_kind kind) {
  td_overlay_value *sum = &self->value;
  if (!self->is_known || (!adds_up(kind) && value->heat > sum->heat)) {
    *self = (td_scene_total){*value, value->step, true};
    return;
  }
  if (!adds_up(kind)) return;
  sum->value += value->value;
  sum->heat = fmax(sum->heat, value->heat);
  sum->step = TD_MIN(sum->step, value->step);
  self->last_step = TD_MAX(self->last_step, value->step);
}

static void
add_members(const td_scene_draw *draw, uint32_t i) {
  const td_graph_scene *scene = draw->scene;
  const td_scene_block *block = td_scene_block_of(scene, i);
  const uint32_t *members = block ? &scene->members[block->first_member] : &scene->nodes[i].node;
  for (uint32_t k = 0; k < (block ? block->n_members : 1); k++) {
    const td_overlay_value *value = td_overlay_find(draw->view->overlay, members[k]);
    if (value) add_value(&scene->totals[i], value, draw->view->overlay->kind);
  }
}

/* As hot as a node is by its figure, a block is by its total. */
static void
heat_totals(td_graph_scene *scene, td_overlay_kind kind) {
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    td_overlay_value *value = &scene->totals[i].value;
    double share = scene->most_total > 0 ? fmax(value->value / scene->most_total, 0) : 0;
    value->heat = kind == TD_OVERLAY_critical ? 0.4 + 0.6 * sqrt(share) : sqrt(share);
  }
}

void
td_scene_find_totals(td_scene_draw *draw) {
  td_graph_scene *scene = draw->scene;
  const td_overlay *overlay = draw->view->overlay;
  if (!scene->n_blocks || !overlay) return;
  free(scene->totals);
  scene->totals = TD_NEW_N(td_scene_total, scene->n_nodes);
  scene->most_total = adds_up(overlay->kind) ? 0 : overlay->most;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    add_members(draw, i);
    scene->most_total = fmax(scene->most_total, scene->totals[i].value.value);
  }
  if (adds_up(overlay->kind)) heat_totals(scene, overlay->kind);
}

bool
td_scene_is_step(const td_scene_draw *draw, uint32_t edge) {
  const td_graph_scene *scene = draw->scene;
  const td_scene_edge *self = &scene->edges[edge];
  const td_overlay_value *from = td_scene_heat(draw, self->from),
                         *to = td_scene_heat(draw, self->to);
  if (!from || !to || !from->step) return false;
  return to->step == (scene->totals ? scene->totals[self->from].last_step : from->step) + 1;
}

/* Text stays readable on the hottest card. */
td_colour
td_scene_heat_colour(const td_theme *theme, double heat) {
  return td_colour_mix(theme->card, theme->hot, 0.06 + 0.64 * heat);
}

bool
td_scene_tint(const td_scene_draw *draw, uint32_t i, td_box box, double radius) {
  const td_overlay_value *value = td_scene_heat(draw, i);
  td_box inside = {box.x + 1.5, box.y + 1.5, box.width - 3, box.height - 3};
  if (!draw->view->overlay) return false;
  td_shape_rounded(draw->cr, inside, radius - 1.5);
  td_theme_source(draw->cr,
                  value ? td_scene_heat_colour(draw->theme, value->heat) : draw->theme->card);
  cairo_fill(draw->cr);
  return true;
}

char *
td_graph_scene_figure(const td_overlay *overlay, double value) {
  switch (overlay->kind) {
  case TD_OVERLAY_bytes:
    return td_format_bytes((uint64_t)value);
  case TD_OVERLAY_norm:
    return td_format("%.3g", value);
  default:
    return td_format_ns(value);
  }
}

static double
draw_text(const td_scene_draw *draw, const char *text, double x, double y, bool bold) {
  double width;
  td_label_size(draw->labels, text, SIZE, bold, &width, NULL);
  td_label_draw(draw->labels, draw->cr, text, SIZE, x, y - 7.5, 0,
                bold ? draw->theme->foreground : draw->theme->dim, bold);
  return x + width + 8;
}

static double
draw_bar(const td_scene_draw *draw, double x, double y) {
  cairo_pattern_t *ramp = cairo_pattern_create_linear(x, 0, x + BAR_WIDTH, 0);
  bool is_turned = draw->view->overlay->kind == TD_OVERLAY_slack;
  for (int i = 0; i <= 1; i++) {
    td_colour end = td_scene_heat_colour(draw->theme, is_turned ? 1 - i : i);
    cairo_pattern_add_color_stop_rgba(ramp, i, end.r, end.g, end.b, end.a);
  }
  td_shape_rounded(draw->cr, (td_box){x, y - BAR_HEIGHT / 2.0, BAR_WIDTH, BAR_HEIGHT}, 3);
  cairo_set_source(draw->cr, ramp);
  cairo_fill_preserve(draw->cr);
  td_theme_source(draw->cr, draw->theme->line);
  cairo_set_line_width(draw->cr, 1);
  cairo_stroke(draw->cr);
  cairo_pattern_destroy(ramp);
  return x + BAR_WIDTH + 8;
}

/* With one thread, for example: then each node is as hot as any, and a scale would say nothing. */
static bool
lacks_slack(const td_overlay *overlay) {
  return overlay->kind == TD_OVERLAY_slack && overlay->most <= 0;
}

double
td_scene_draw_scale(const td_scene_draw *draw, double x, double y) {
  const td_overlay *overlay = draw->view->overlay;
  x = draw_text(draw, td_translate(td_overlay_label(overlay->kind)), x, y, true);
  const char *note = draw->view->overlay_note;
  if (!overlay->n_values)
    return draw_text(draw, note ? note : td_translate("nothing is known of this pass"), x, y,
                     false);
  if (lacks_slack(overlay))
    return draw_text(draw, td_translate("no slack: the pass waited for every node"), x, y, false);
  char *most =
      td_graph_scene_figure(overlay, draw->scene->totals ? draw->scene->most_total : overlay->most);
  x = draw_text(draw, "0", x, y, false);
  x = draw_bar(draw, x, y);
  x = draw_text(draw, most, x, y, false);
  free(most);
  if (overlay->known == TD_knowledge_reconstructed)
    x = draw_text(draw, td_translate("reconstructed"), x, y, false);
  return x + 6;
}
