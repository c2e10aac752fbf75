/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Options of `tapedeck render`: the size of a picture, and what part of the tape a timeline shows.
 * Main thread. */
#pragma once

#include "engine/replay/replay.h"
#include "ui/draw/timeline_picture.h"

#include <glib.h>
#include <stdbool.h>

/* td_render_parse_size reads "1600x1000". It prints what a size must be if `text` is none. NULL
 * leaves the size as it is. */
bool td_render_parse_size(const char *text, int *width, int *height);

/* Numbers of events, as they were typed; -1: from the beginning, to the end. */
typedef struct td_render_range {
  gint64 from, to;
} td_render_range;

#define TD_RENDER_RANGE                                                                            \
  (td_render_range) {                                                                              \
    -1, -1                                                                                         \
  }
#define TD_RENDER_RANGE_ENTRIES(range)                                                             \
  {"from", 0, 0, G_OPTION_ARG_INT64, &(range).from, "First event of a timeline", "SEQ"}, {         \
    "to", 0, 0, G_OPTION_ARG_INT64, &(range).to, "Last event of a timeline", "SEQ"                 \
  }

/* td_render_range_check returns false and prints why if there can be no such range, or if the view
 * has none. td_render_range_find writes its times, or else those of a pass (TD_NONE: of the whole
 * timeline). It returns false and prints why if the tape does not have these events. */
bool td_render_range_check(const td_render_range *range, const char *view);
bool td_render_range_find(const td_render_range *range, uint32_t graph_task,
                          const td_timeline *timeline, td_replay *replay, const char *path,
                          double *from_ns, double *to_ns);
