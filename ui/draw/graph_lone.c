/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Marks of nodes that the graph beside this one lacks, over the picture: a dashed frame, and from
 * far away a spot as large as can be seen. */
#include "ui/draw/scene.h"

enum { GAP = 5, RADIUS = 10, LEAST_PIXELS = 4 };

static void
draw_frame(const td_scene_draw *draw, td_box box) {
  static const double dashes[] = {7, 4};
  td_box around = {box.x - GAP, box.y - GAP, box.width + 2 * GAP, box.height + 2 * GAP};
  td_shape_rounded(draw->cr, around, RADIUS);
  cairo_set_dash(draw->cr, dashes, 2, 0);
  cairo_set_line_width(draw->cr, 3 / TD_MIN(draw->view->scale, 1));
  cairo_stroke(draw->cr);
}

static void
draw_spot(const td_scene_draw *draw, td_box box) {
  double least = LEAST_PIXELS / draw->view->scale;
  cairo_rectangle(draw->cr, box.x, box.y, TD_MAX(box.width, least), TD_MAX(box.height, least));
  cairo_fill(draw->cr);
}

void
td_scene_draw_lone(const td_scene_draw *draw) {
  const td_graph_view *view = draw->view;
  bool far = td_scene_is_far(draw->scene, view->scale);
  cairo_save(draw->cr);
  td_theme_source(draw->cr, draw->theme->warning);
  for (uint32_t i = 0; i < view->n_lone; i++) {
    uint32_t found = td_scene_find(draw->scene, view->lone[i]);
    if (found == TD_NONE) continue;
    td_box box = td_scene_box(draw->scene, found);
    if (!td_scene_sees(draw, box.x, box.y, box.x + box.width, box.y + box.height)) continue;
    (far ? draw_spot : draw_frame)(draw, box);
  }
  cairo_restore(draw->cr);
}
