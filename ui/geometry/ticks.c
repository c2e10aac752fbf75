/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/ticks.h"

#include "engine/base/alloc.h"

#include <math.h>

#define DIGITS 4 /* of a label */
#define HOUR 3600e9
/* Steps from here on are told in hours: seconds would need too many digits. */
#define LONG_STEP 1000e9

static td_ticks
choose_decimal(double from, double to, uint32_t most) {
  static const struct {
    double factor;
    uint32_t n_minor;
  } steps[] = {{1, 5}, {2, 4}, {5, 5}, {10, 5}};
  td_ticks ticks = {.first = from, .step = 1, .n = 0, .n_minor = 5};
  if (!(to > from) || most == 0) return ticks;
  double least = (to - from) / most, power = pow(10, floor(log10(least)));
  for (size_t i = 0; i < TD_N_ELEMENTS(steps); i++) {
    ticks.step = power * steps[i].factor;
    ticks.n_minor = steps[i].n_minor;
    if (ticks.step >= least * (1 - 1e-9)) break;
  }
  ticks.first = ceil(from / ticks.step - 1e-9) * ticks.step;
  if (ticks.first <= to) ticks.n = (uint32_t)floor((to - ticks.first) / ticks.step + 1e-9) + 1;
  return ticks;
}

td_ticks
td_ticks_choose(double from, double to, uint32_t most) {
  if (!most || !((to - from) / most > LONG_STEP)) return choose_decimal(from, to, most);
  td_ticks ticks = choose_decimal(from / HOUR, to / HOUR, most);
  ticks.first *= HOUR;
  ticks.step *= HOUR;
  return ticks;
}

typedef struct scale {
  double size;
  const char *name;
} scale;

static scale
scale_for(double most, double step) {
  static const scale scales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  if (step >= LONG_STEP) return (scale){HOUR, "h"};
  for (size_t i = 0; i < TD_N_ELEMENTS(scales); i++)
    if (most >= scales[i].size * (1 - 1e-9)) return scales[i];
  return (scale){1, "ns"};
}

static int
decimals_of(double step, double size) {
  return (int)TD_MAX(0, ceil(-log10(step / size) - 1e-6));
}

static int
digits_before_point(double value) {
  return value < 1 ? 1 : 1 + (int)floor(log10(value) + 1e-9);
}

/* A time of DIGITS digits, more or less. */
static char *
about(double t) {
  scale scale = scale_for(fabs(t), fabs(t) < 9999.5e9 ? 0 : LONG_STEP);
  double value = t / scale.size;
  return td_format("≈ %.*f %s", TD_MAX(0, DIGITS - digits_before_point(fabs(value))), value,
                   scale.name);
}

char *
td_ticks_text(const td_ticks *ticks, uint32_t i) {
  double most = TD_MAX(fabs(ticks->first), fabs(ticks->first + (ticks->n - 1) * ticks->step));
  scale scale = scale_for(most, ticks->step);
  int decimals = decimals_of(ticks->step, scale.size);
  if (decimals + digits_before_point(most / scale.size) <= DIGITS) {
    double t = ticks->first + i * ticks->step;
    return td_format("%.*f %s", decimals, fabs(t) < ticks->step / 2 ? 0 : t / scale.size,
                     scale.name);
  }
  if (i == 0) return about(ticks->first);
  scale = scale_for((ticks->n - 1) * ticks->step, ticks->step);
  return td_format("+%.*f %s", decimals_of(ticks->step, scale.size), i * ticks->step / scale.size,
                   scale.name);
}
