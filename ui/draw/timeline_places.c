/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/timeline.h"
#include "ui/draw/timeline_picture.h"

#include <stdlib.h>

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
height_of(const td_lane *lane, double n_rows) {
  if (lane->is_collapsed) return TD_LANE_COLLAPSED;
  if (lane->kind == TD_LANE_queue) return TD_LANE_QUEUE_HEIGHT;
  return td_lane_first_row(lane) - lane->y + n_rows * lane->row_height + TD_LANE_PAD;
}

static double
place_lane(td_lane *lane, double y, bool shown) {
  double n_rows = TD_MAX((double)lane->n_rows, 1);
  double thin = (TD_LANE_COLLAPSED - 2 * TD_LANE_COLLAPSED_PAD) / n_rows;
  double row = TD_MIN((double)TD_LANE_ROW, TD_LANE_ROWS_HEIGHT / n_rows);
  lane->row_height = lane->is_collapsed ? thin : row;
  lane->y = y;
  lane->height = height_of(lane, n_rows);
  if (!shown) lane->height = 0;
  return y + lane->height;
}

void
td_timeline_forget_bands(td_timeline *timeline) {
  for (size_t i = 0; i < timeline->n_bands; i++)
    free(timeline->bands[i].title);
  free(timeline->bands);
  timeline->n_bands = 0;
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
  td_timeline_forget_bands(timeline);
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

size_t
td_timeline_n_lanes(const td_timeline *timeline) {
  return timeline->n_lanes;
}

char *
td_timeline_lane_name(const td_timeline *timeline, size_t lane) {
  const td_lane *found = &timeline->lanes[lane];
  char *process = td_catalog_process_label(timeline->catalog, found->process);
  char *name = td_format("%s, %s, %s", process, found->title, found->note);
  free(process);
  return name;
}

size_t
td_lane_at(const td_timeline *timeline, double y) {
  for (size_t i = 0; i < timeline->n_lanes; i++) {
    const td_lane *lane = &timeline->lanes[i];
    if (y >= lane->y && y < lane->y + lane->height) return i;
  }
  return SIZE_MAX;
}

size_t
td_timeline_title_at(const td_timeline *timeline, const td_timeline_view *view, double x,
                     double y) {
  if (x >= TD_TIMELINE_GUTTER || y < TD_TIMELINE_AXIS) return SIZE_MAX;
  return td_lane_at(timeline, y + view->scroll_y);
}

void
td_timeline_collapse(td_timeline *timeline, size_t lane, bool is_collapsed) {
  if (timeline->lanes[lane].is_collapsed == is_collapsed) return;
  timeline->lanes[lane].is_collapsed = is_collapsed;
  td_timeline_place(timeline);
}
