/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lanes of a timeline in words, and where they are: for people who do not see the picture. Any
 * thread. */
#pragma once

#include "ui/draw/timeline_picture.h"

/* td_timeline_lane_text says what a lane does at a time: "autograd 0: MulBackward0 #6, 12 µs". The
 * caller frees. */
char *td_timeline_lane_text(const td_timeline *timeline, size_t lane, uint64_t ns);

/* td_timeline_lane_node returns the node that a lane runs at a time, or TD_NONE. */
uint32_t td_timeline_lane_node(const td_timeline *timeline, size_t lane, uint64_t ns);

/* td_timeline_lane_extent writes where a lane is in a view; false if it has nothing to show. */
bool td_timeline_lane_extent(const td_timeline *timeline, const td_timeline_view *view, size_t lane,
                             double *top, double *height);
