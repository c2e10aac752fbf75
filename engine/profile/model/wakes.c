/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/wakes.h"

#include "engine/base/alloc.h"

#include <string.h>

void
td_wakes_add(td_wakes *wakes, uint64_t ns) {
  wakes->ns[wakes->n++ % TD_WAKES_KEPT] = (uint32_t)TD_MIN(ns, UINT32_MAX);
}

static int
compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

uint32_t
td_wakes_median(const td_wakes *wakes) {
  uint32_t sorted[TD_WAKES_KEPT], n = (uint32_t)TD_MIN(wakes->n, TD_WAKES_KEPT);
  if (n == 0) return 0;
  memcpy(sorted, wakes->ns, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare);
  return sorted[n / 2];
}
