/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What nodes held in memory over time, as areas on top of each other. The thread that draws. */
#pragma once

#include "engine/profile/report/memory.h"
#include "ui/draw/theme.h"

/* What the picture shows of a td_memory. It borrows nothing. */
typedef struct td_memory_areas {
  td_memory_samples samples;
  bool is_known[TD_N_HOLDING_GROUPS];
  uint64_t peak_ns; /* UINT64_MAX: nothing was ever held */
} td_memory_areas;

void td_memory_areas_init(td_memory_areas *areas, const td_memory *memory);

typedef struct td_memory_view {
  double width, height;
  double from_ns, to_ns, now_ns; /* of the tape; of the playhead */
} td_memory_view;

/* td_memory_view_time_at returns the time at a pixel. td_memory_picture_at returns what was held
 * at a time, or NULL if nothing is known of that time. */
double td_memory_view_time_at(const td_memory_view *view, double x);
const td_memory_level *td_memory_picture_at(const td_memory_areas *areas, double ns);

/* td_memory_picture_group returns what people call a group: "saved tensors". Constant. */
const char *td_memory_picture_group(td_holding_group group);

/* td_memory_picture_draw paints the areas, their legend and the peak. td_memory_picture_draw_over
 * paints the playhead on a picture of the same view. */
void td_memory_picture_draw(const td_memory_areas *areas, cairo_t *cr, const td_memory_view *view,
                            const td_theme *theme, td_label_cache *labels);
void td_memory_picture_draw_over(cairo_t *cr, const td_memory_view *view, const td_theme *theme);
