/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/memory_level.h"

#include "engine/base/alloc.h"

#include <string.h>

#define INTERVAL_NS 1024 /* at first */

/* ---- over time ---- */

static void
take_larger(td_memory_level *level, const td_memory_level *other) {
  if (td_memory_total(other) > td_memory_total(level)) *level = *other;
}

static void
double_intervals(td_memory_samples *samples) {
  for (uint32_t i = 0; i < samples->n; i++)
    if (i % 2)
      take_larger(&samples->items[i / 2], &samples->items[i]);
    else
      samples->items[i / 2] = samples->items[i];
  samples->n = (samples->n + 1) / 2;
  samples->interval_ns *= 2;
}

static void
lengthen(td_memory_samples *samples, uint64_t now) {
  if (!samples->n) samples->begin_ns = now;
  if (!samples->n) samples->interval_ns = INTERVAL_NS;
  uint64_t passed = now - TD_MIN(now, samples->begin_ns);
  while (passed / samples->interval_ns >= TD_MEMORY_SAMPLES)
    double_intervals(samples);
  while (samples->n <= passed / samples->interval_ns)
    samples->items[samples->n++] = samples->last;
  samples->end_ns = samples->begin_ns + samples->n * samples->interval_ns;
}

void
td_memory_samples_add(td_memory_samples *samples, uint64_t now, const td_memory_level *level) {
  if (now >= samples->end_ns || !samples->n) lengthen(samples, now);
  if (memcmp(level, &samples->last, sizeof *level) == 0) return;
  take_larger(&samples->items[samples->n - 1], level);
  samples->last = *level;
}

/* ---- over steps ---- */

static void
halve_rows(td_memory_steps *steps) {
  for (uint32_t i = 0; i < TD_MEMORY_STEPS / 2; i++) {
    steps->rows[i] = steps->rows[2 * i + 1];
    steps->rows[i].peak = TD_MAX(steps->rows[2 * i].peak, steps->rows[2 * i + 1].peak);
  }
  steps->n_rows = TD_MEMORY_STEPS / 2;
  steps->n_per_row *= 2;
}

static void
add_point(td_memory_line *line, double x, double y) {
  line->n++;
  line->x += x;
  line->y += y;
  line->xx += x * x;
  line->xy += x * y;
}

void
td_memory_steps_end(td_memory_steps *steps, td_memory_step step) {
  if (!steps->n_per_row) steps->n_per_row = 1;
  for (int group = 0; group < TD_N_HOLDING_GROUPS && steps->n > 0; group++)
    add_point(&steps->lines[group], (double)steps->n, (double)step.end.bytes[group]);
  if (steps->n > 0) add_point(&steps->nodes, (double)steps->n, (double)step.n_nodes);
  steps->n++;
  if (steps->n_rows == TD_MEMORY_STEPS && steps->n % steps->n_per_row == 0) halve_rows(steps);
  if (steps->n % steps->n_per_row) return;
  step.peak = steps->peak;
  steps->rows[steps->n_rows++] = step;
  steps->peak = td_memory_total(&step.end);
}

static bool
find_slope(const td_memory_line *line, double *slope) {
  double spread = line->n * line->xx - line->x * line->x;
  if (line->n < 2 || spread <= 0) return false;
  *slope = (line->n * line->xy - line->x * line->y) / spread;
  return true;
}

bool
td_memory_steps_growth(const td_memory_steps *steps, td_holding_group group, double *bytes) {
  return find_slope(&steps->lines[group], bytes);
}

bool
td_memory_steps_more_nodes(const td_memory_steps *steps, double *nodes) {
  return find_slope(&steps->nodes, nodes);
}
