/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A slim strip of a whole tape that is cut: how busy its threads were, where problems are, which
 * segment is shown. It is drawn from the tape's outline. An outline of an older tape has no
 * stretches: then the strip has segments and problems alone. x counts events, as the slider does.
 */
#pragma once

#include "ui/draw/theme.h"

typedef struct td_strip_view {
  double width, height;
  uint64_t n_events; /* of the tape */
  uint64_t segment_first, segment_end;
  uint64_t position; /* of the playhead, or where it is going */
  bool focused;
} td_strip_view;

/* td_strip_x and td_strip_position_at convert between positions and pixels. */
double td_strip_x(const td_strip_view *view, uint64_t position);
uint64_t td_strip_position_at(const td_strip_view *view, double x);

/* td_strip_load returns on how many threads nodes ran from one event to another, on average. It is
 * never more than the tape has threads. */
double td_strip_load(const td_catalog *outline, uint64_t from, uint64_t to);

/* td_strip_time_at writes about when a position was reached. False if the outline has no stretches.
 */
bool td_strip_time_at(const td_catalog *outline, uint64_t position, double *ns);

/* td_strip_problem_at writes the event of the problem whose mark is at a point. False if there is
 * none. */
bool td_strip_problem_at(const td_catalog *outline, const td_strip_view *view, double x, double y,
                         uint64_t *seq);

/* td_strip_draw paints the strip, td_strip_draw_over what lies over it: the position, the focus. */
void td_strip_draw(const td_catalog *outline, cairo_t *cr, const td_strip_view *view,
                   const td_theme *theme);
void td_strip_draw_over(cairo_t *cr, const td_strip_view *view, const td_theme *theme);
