/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/samples.h"

#include "engine/base/alloc.h"

void
td_samples_add(td_samples *samples, uint32_t row, uint64_t ns) {
  TD_GROW(samples->items, samples->n, samples->capacity);
  samples->items[samples->n++] = (td_sample){row, ns};
}

static int
compare(const void *a, const void *b) {
  const td_sample *left = a, *right = b;
  if (left->row != right->row) return left->row < right->row ? -1 : 1;
  return (left->ns > right->ns) - (left->ns < right->ns);
}

void
td_samples_sort(td_samples *samples) {
  if (samples->n) qsort(samples->items, samples->n, sizeof *samples->items, compare);
}

/* By nearest rank. */
static uint64_t
percentile(const td_sample *items, size_t n, unsigned percent) {
  return items[(n * percent + 99) / 100 - 1].ns;
}

td_spread
td_samples_take(const td_samples *samples, size_t *at, uint32_t row) {
  td_spread spread = {0};
  const size_t first = *at;
  for (; *at < samples->n && samples->items[*at].row == row; ++*at) {
    spread.n++;
    spread.sum += samples->items[*at].ns;
  }
  if (!spread.n) return spread;
  const td_sample *items = &samples->items[first];
  spread.p50 = percentile(items, spread.n, 50);
  spread.p95 = percentile(items, spread.n, 95);
  spread.max = items[spread.n - 1].ns;
  return spread;
}

void
td_samples_fini(td_samples *samples) {
  free(samples->items);
  *samples = (td_samples){0};
}
