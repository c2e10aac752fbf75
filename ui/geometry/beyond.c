/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/beyond.h"

#include <math.h>

static double
within(double value, double least, double most) {
  if (least > most) return (least + most) / 2;
  return fmin(fmax(value, least), most);
}

void
td_beyond_place(td_frame frame, double x, double y, double *at_x, double *at_y) {
  *at_x = within(x, frame.left, frame.right);
  *at_y = within(y, frame.top, frame.bottom);
}
