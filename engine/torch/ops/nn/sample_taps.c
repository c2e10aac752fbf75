/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/sample_taps.h"

#include <math.h>

/* A coordinate in pixels, and how fast it moves with the grid's number. */
typedef struct coordinate {
  double at, slope;
} coordinate;

/* The weights of pixels along one dimension, with their first and second derivatives. */
typedef struct line {
  int n;
  int64_t at[4]; /* -1: outside */
  double weight[4], first[4], second[4];
} line;

static double
rounded(double value, bool narrow) {
  return narrow ? (double)(float)value : value;
}

static coordinate
in_pixels(double given, int64_t size, bool align, bool narrow) {
  double slope = (double)(align ? size - 1 : size) / 2;
  double at = rounded(given + 1, narrow) * slope;
  return (coordinate){.at = rounded(align ? at : at - 0.5, narrow), .slope = slope};
}

/* At or behind the border a place moves no more. */
static coordinate
clipped(coordinate c, int64_t size) {
  double last = (double)(size - 1);
  if (!(c.at > 0)) return (coordinate){0};
  return c.at >= last ? (coordinate){.at = last} : c;
}

static coordinate
reflected(coordinate c, int64_t size, bool align, bool narrow) {
  double low = align ? 0 : -0.5, span = (double)(align ? size - 1 : size);
  if (span == 0) return (coordinate){0};
  double sign = c.at < low ? -1 : 1, away = fabs(rounded(c.at - low, narrow));
  double extra = fmod(away, span), flips = floor(away / span);
  if (!isfinite(away)) return (coordinate){.at = NAN};
  if (fmod(flips, 2) == 0)
    return (coordinate){.at = rounded(extra + low, narrow), .slope = sign * c.slope};
  return (coordinate){.at = rounded(span - extra + low, narrow), .slope = -sign * c.slope};
}

static coordinate
padded(const td_grid_sampling *sampling, coordinate c, int64_t size, bool narrow) {
  if (sampling->padding == TD_SAMPLING_ZEROS) return c;
  if (sampling->padding == TD_SAMPLING_REFLECTION) c = reflected(c, size, sampling->align, narrow);
  return clipped(c, size);
}

static int64_t
pixel(double at, int64_t size) {
  return at >= 0 && at < (double)size ? (int64_t)at : -1;
}

/* Convolution with Keys' cubic of parameter -3/4: of a pixel `away` from the place. */
static void
cubic(line *l, int i, double away, double slope) {
  const double a = -0.75;
  double d = fabs(away), sign = away < 0 ? 1 : -1;
  if (d <= 1) {
    l->weight[i] = ((a + 2) * d - (a + 3)) * d * d + 1;
    l->first[i] = (3 * (a + 2) * d - 2 * (a + 3)) * d;
    l->second[i] = 6 * (a + 2) * d - 2 * (a + 3);
  } else {
    l->weight[i] = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    l->first[i] = (3 * a * d - 10 * a) * d + 8 * a;
    l->second[i] = 6 * a * d - 10 * a;
  }
  l->first[i] *= sign * slope;
  l->second[i] *= slope * slope;
}

static line
cubic_line(const td_grid_sampling *sampling, coordinate c, int64_t size, bool narrow) {
  line l = {.n = 4};
  double first = floor(c.at);
  for (int i = 0; i < 4; i++) {
    double at = first - 1 + i;
    l.at[i] = pixel(padded(sampling, (coordinate){.at = at}, size, narrow).at, size);
    cubic(&l, i, at - c.at, c.slope);
  }
  return l;
}

static line
linear_line(coordinate c, int64_t size, bool narrow) {
  double first = floor(c.at), share = rounded(c.at - first, narrow);
  return (line){.n = 2,
                .at = {pixel(first, size), pixel(first + 1, size)},
                .weight = {rounded(1 - share, narrow), share},
                .first = {-c.slope, c.slope}};
}

static line
line_of(const td_grid_sampling *sampling, double given, int64_t size, bool narrow) {
  coordinate c = in_pixels(given, size, sampling->align, narrow);
  if (sampling->mode == TD_SAMPLING_BICUBIC) return cubic_line(sampling, c, size, narrow);
  c = padded(sampling, c, size, narrow);
  if (sampling->mode == TD_SAMPLING_BILINEAR) return linear_line(c, size, narrow);
  return (line){.n = 1, .at = {pixel(nearbyint(c.at), size)}, .weight = {1}};
}

int
td_sample_taps(const td_grid_sampling *sampling, const int64_t size[2], bool narrow, double x,
               double y, td_tap taps[TD_MAX_TAPS]) {
  line down = line_of(sampling, y, size[0], narrow), along = line_of(sampling, x, size[1], narrow);
  int n = 0;
  for (int i = 0; i < down.n; i++)
    for (int j = 0; j < along.n; j++) {
      if (down.at[i] < 0 || along.at[j] < 0) continue;
      taps[n++] = (td_tap){.at = down.at[i] * size[1] + along.at[j],
                           .weight = rounded(down.weight[i] * along.weight[j], narrow),
                           .x = down.weight[i] * along.first[j],
                           .y = down.first[i] * along.weight[j],
                           .xx = down.weight[i] * along.second[j],
                           .xy = down.first[i] * along.first[j],
                           .yy = down.second[i] * along.weight[j]};
    }
  return n;
}
