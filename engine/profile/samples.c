/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/samples.h"

#include "engine/base/alloc.h"

#include <stdbool.h>

void
td_samples_add(td_samples *samples, uint32_t row, uint64_t ns) {
  TD_GROW(samples->items, samples->n, samples->capacity);
  samples->items[samples->n++] = (td_sample){row, ns};
}

/* ---- sorting by digits, the last one first ---- */

#define DIGIT_BITS 11
#define N_DIGITS (1u << DIGIT_BITS)

static inline uint32_t
digit_of(const td_sample *item, bool of_row, unsigned shift) {
  return (uint32_t)((of_row ? item->row : item->ns) >> shift) & (N_DIGITS - 1);
}

static void
sort_by_digit(const td_sample *from, td_sample *to, size_t n, bool of_row, unsigned shift) {
  size_t places[N_DIGITS] = {0}, place = 0;
  for (size_t i = 0; i < n; i++)
    places[digit_of(&from[i], of_row, shift)]++;
  for (uint32_t digit = 0; digit < N_DIGITS; digit++) {
    size_t begin = place;
    place += places[digit];
    places[digit] = begin;
  }
  for (size_t i = 0; i < n; i++)
    to[places[digit_of(&from[i], of_row, shift)]++] = from[i];
}

/* Sorts by those digits of a number in which the items differ. */
static void
sort_by_number(td_samples *samples, td_sample **room, bool of_row, uint64_t differing) {
  for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
    td_sample *items = samples->items;
    if (!(differing >> shift & (N_DIGITS - 1))) continue;
    sort_by_digit(items, *room, samples->n, of_row, shift);
    samples->items = *room;
    *room = items;
  }
}

void
td_samples_sort(td_samples *samples) {
  uint64_t rows = 0, ns = 0;
  if (samples->n < 2) return;
  for (size_t i = 1; i < samples->n; i++) {
    rows |= samples->items[i].row ^ samples->items[0].row;
    ns |= samples->items[i].ns ^ samples->items[0].ns;
  }
  td_sample *room = td_alloc(samples->n, sizeof *room);
  sort_by_number(samples, &room, false, ns);
  sort_by_number(samples, &room, true, rows);
  free(room);
  samples->capacity = samples->n;
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
  spread.p25 = percentile(items, spread.n, 25);
  spread.p50 = percentile(items, spread.n, 50);
  spread.p75 = percentile(items, spread.n, 75);
  spread.p95 = percentile(items, spread.n, 95);
  spread.max = items[spread.n - 1].ns;
  return spread;
}

void
td_samples_fini(td_samples *samples) {
  free(samples->items);
  *samples = (td_samples){0};
}
