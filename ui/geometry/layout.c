/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/layout.h"

#include "engine/base/alloc.h"

const td_layout_options td_layout_defaults = {
    .gap_x = 28,
    .gap_y = 34,
    .gap_edge = 16,
    .gap_port = 16,
    .aspect = 1.6f,
    .fold_height = 760,
    .longest_span = 64,
    .effort = 40,
};

void
td_layout_free(td_layout *layout) {
  if (!layout) return;
  void *owned[] = {layout->x,    layout->y,     layout->layer,       layout->column,
                   layout->host, layout->route, layout->first_point, layout->points};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
  free(layout);
}
