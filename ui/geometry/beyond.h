/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Signs at the border of a view for what lies outside of it. Pure functions; any thread. */
#pragma once

typedef struct td_frame {
  double left, top, right, bottom;
} td_frame;

/* td_beyond_place writes the point of a frame that is nearest to a point. A frame without room is
 * its middle. */
void td_beyond_place(td_frame frame, double x, double y, double *at_x, double *at_y);
