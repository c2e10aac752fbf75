/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far a point is from an edge as it is drawn. Pure functions; any thread. */
#pragma once

#include "ui/geometry/layout.h"

/* td_curve_distance returns the distance from a point to an edge of a layout, in its units. It
 * takes the S curves as a few straight pieces each, so it is off by less than two units on a curve
 * of 200. */
double td_curve_distance(const td_layout *layout, uint32_t edge, double x, double y);
