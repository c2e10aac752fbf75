/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/timeline.h"

/* A thread that never ran anything, or only built the graph, has nothing to show. */
static bool
is_empty(const td_lane *lane) {
  return lane->kind != TD_LANE_queue && lane->n_rows == 0 && lane->activity.n == 0;
}

static bool
all_are_empty(const td_timeline *timeline) {
  for (size_t i = 0; i < timeline->n_lanes; i++)
    if (!is_empty(&timeline->lanes[i])) return false;
  return true;
}

static double
place_lane(td_lane *lane, double y, bool shown) {
  double n_rows = TD_MAX((double)lane->n_rows, 1);
  lane->row_height = TD_MIN((double)TD_LANE_ROW, TD_LANE_ROWS_HEIGHT / n_rows);
  lane->y = y;
  lane->height = lane->kind == TD_LANE_queue
                     ? TD_LANE_QUEUE_HEIGHT
                     : td_lane_first_row(lane) - y + n_rows * lane->row_height + TD_LANE_PAD;
  if (!shown) lane->height = 0;
  return y + lane->height;
}

static double
place_band(td_timeline *timeline, uint32_t process, double y) {
  timeline->bands[timeline->n_bands++] =
      (td_band){td_catalog_process_label(timeline->catalog, process), y};
  return y + TD_BAND_HEIGHT;
}

void
td_timeline_place(td_timeline *timeline) {
  uint32_t n = timeline->catalog->n_processes;
  bool all = all_are_empty(timeline);
  double y = TD_TIMELINE_AXIS;
  timeline->bands = TD_NEW_N(td_band, n);
  for (uint32_t process = 0; process < n; process++) {
    if (n > 1) y = place_band(timeline, process, y);
    for (size_t i = 0; i < timeline->n_lanes; i++) {
      td_lane *lane = &timeline->lanes[i];
      if (lane->process == process) y = place_lane(lane, y, all || !is_empty(lane));
    }
  }
  timeline->height = y + 6;
}
