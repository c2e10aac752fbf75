/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline.h"

#include "engine/base/alloc.h"

void
td_lanes_make(td_lanes *self, size_t n) {
  while (self->n < n) {
    TD_GROW(self->lanes, self->n, self->capacity);
    self->lanes[self->n++] = (td_lane){0};
  }
}

void
td_lane_fini(td_lane *lane) {
  for (size_t r = 0; r < lane->n_rows; r++)
    td_spans_fini(&lane->rows[r]);
  td_spans_fini(&lane->activity);
  free(lane->rows);
  free(lane->samples);
  free(lane->peaks);
  free(lane->title);
  free(lane->note);
}

void
td_lanes_fini(td_lanes *lanes) {
  for (size_t i = 0; i < lanes->n; i++)
    td_lane_fini(&lanes->lanes[i]);
  free(lanes->lanes);
}
