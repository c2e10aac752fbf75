/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/curves.h"

#include <math.h>

enum { PIECES = 16 };

typedef struct place {
  double x, y;
} place;

static double
distance_to_piece(place at, place from, place to) {
  double dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
  double share = square > 0 ? ((at.x - from.x) * dx + (at.y - from.y) * dy) / square : 0;
  share = fmin(fmax(share, 0), 1);
  return hypot(at.x - from.x - dx * share, at.y - from.y - dy * share);
}

static double
bezier(double a, double b, double c, double d, double t) {
  double u = 1 - t;
  return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
}

/* A point of the S curve that ui/draw makes between two points. */
static place
point_on(td_layout_point a, td_layout_point b, bool sideways, double t) {
  double dx = (double)b.x - a.x, dy = (double)b.y - a.y;
  if (sideways)
    return (place){bezier(a.x, a.x + dx * 0.5, a.x + dx * 0.5, b.x, t),
                   bezier(a.y, a.y, b.y, b.y, t)};
  return (place){bezier(a.x, a.x, b.x, b.x, t),
                 bezier(a.y, a.y + dy * 0.45, a.y + dy * 0.55, b.y, t)};
}

static double
distance_to_curve(place at, td_layout_point a, td_layout_point b, bool sideways) {
  place before = {a.x, a.y};
  double least = INFINITY;
  for (int i = 1; i <= PIECES; i++) {
    place here = point_on(a, b, sideways, i / (double)PIECES);
    least = fmin(least, distance_to_piece(at, before, here));
    before = here;
  }
  return least;
}

double
td_curve_distance(const td_layout *layout, uint32_t edge, double x, double y) {
  place at = {x, y};
  double least = INFINITY;
  bool port = layout->route[edge] == TD_ROUTE_PORT;
  for (uint32_t k = layout->first_point[edge] + 1; k < layout->first_point[edge + 1]; k++) {
    td_layout_point a = layout->points[k - 1], b = layout->points[k];
    bool straight = fabsf(a.x - b.x) < 0.01f || fabsf(a.y - b.y) < 0.01f;
    double distance = straight && !port
                          ? distance_to_piece(at, (place){a.x, a.y}, (place){b.x, b.y})
                          : distance_to_curve(at, a, b, port);
    least = fmin(least, distance);
  }
  return least;
}
