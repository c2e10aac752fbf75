/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/life_picture.h"

#include "ui/draw/shapes.h"

td_colour
td_life_colour(td_life_part part, const td_theme *theme) {
  switch (part) {
  case TD_LIFE_dependency_wait:
    return td_colour_mix(theme->background, theme->dim, 0.5);
  case TD_LIFE_queue_wait:
    return theme->node_fill[TD_NODE_queued];
  case TD_LIFE_lock_wait:
    return theme->error;
  case TD_LIFE_pre_hooks:
    return theme->device_stripe[2];
  case TD_LIFE_apply:
    return theme->node_fill[TD_NODE_running];
  case TD_LIFE_post_hooks:
    return td_colour_mix(theme->device_stripe[2], theme->foreground, 0.35);
  case TD_LIFE_accumulate:
    return theme->node_fill[TD_NODE_done];
  case TD_LIFE_release:
    return theme->device_stripe[1];
  case TD_LIFE_no_core:
    return td_colour_mix(theme->error, theme->background, 0.5);
  default:
    return td_colour_mix(theme->node_fill[TD_NODE_done], theme->foreground, 0.4);
  }
}

void
td_life_draw(cairo_t *cr, double width, double height, const uint64_t *parts,
             const td_theme *theme) {
  double sum = 0, x = 0;
  uint32_t n = 0;
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    sum += (double)parts[part];
    n += parts[part] > 0;
  }
  cairo_save(cr);
  td_shape_rounded(cr, (td_box){0, 0, width, height}, 4);
  cairo_clip(cr);
  td_theme_source(cr, theme->line);
  cairo_paint(cr);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    if (!parts[part]) continue;
    double wide = 1 + (width - n) * (double)parts[part] / sum;
    td_theme_source(cr, td_life_colour((td_life_part)part, theme));
    cairo_rectangle(cr, x, 0, wide, height);
    cairo_fill(cr);
    x += wide;
  }
  cairo_restore(cr);
}
