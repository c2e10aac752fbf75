/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/scale.h"

#include "app/bench/apart.h"
#include "app/bench/figure.h"
#include "engine/base/alloc.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

static const td_scale scales[] = {
#define TD_SCALE(name, what, unit, things, smallest)                                               \
  {#name, what, unit, things, smallest, td_bench_scale_##name},
#include "app/bench/scales.def"
#undef TD_SCALE
};

const td_scale *
td_bench_scales(unsigned *n) {
  *n = TD_N_ELEMENTS(scales);
  return scales;
}

double
td_bench_exponent(const uint32_t n[TD_N_SIZES], const double value[TD_N_SIZES]) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  const int first = 1, count = TD_N_SIZES - first;
  for (int k = first; k < TD_N_SIZES; k++) {
    double x = log(n[k]), y = log(value[k]);
    sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
  }
  return (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
}

typedef struct one_size {
  const td_scale *scale;
  uint32_t n;
} one_size;

/* "value memory_mb trouble" */
static char *
measure_one(void *data) {
  const one_size *size = data;
  double value = 0;
  g_autofree char *trouble = size->scale->measure(size->n, &value);
  return g_strdup_printf("%.17g %.17g %s", value, td_bench_apart_mb(), trouble ? trouble : "");
}

/* Returns NULL or why there is no value (owned). */
static char *
measure_apart(const td_scale *scale, uint32_t n, double *value, double *memory_mb) {
  one_size size = {scale, n};
  g_autofree char *text = td_bench_apart(measure_one, &size);
  if (!text) return g_strdup("the measurement's process died");
  char *rest;
  *value = strtod(text, &rest);
  *memory_mb = strtod(rest, &rest);
  return rest[0] && rest[1] ? g_strdup(rest + 1) : NULL;
}

void
td_bench_scale_measure(const td_scale *scale, td_scaled *measured) {
  uint32_t n = scale->smallest, factor = td_bench_size(10, 2);
  for (int k = 0; k < TD_N_SIZES && !measured->skipped; k++, n *= factor) {
    measured->n[k] = n;
    measured->skipped = measure_apart(scale, n, &measured->value[k], &measured->memory_mb[k]);
  }
  measured->exponent = td_bench_exponent(measured->n, measured->value);
  measured->memory_exponent = td_bench_exponent(measured->n, measured->memory_mb);
}
