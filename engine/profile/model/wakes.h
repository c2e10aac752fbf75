/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long sleeping threads took to wake up: the newest times, for their median. Zero-initialise.
 * One thread at a time. */
#pragma once

#include <stdint.h>

#define TD_WAKES_KEPT 255u

typedef struct td_wakes {
  uint32_t ns[TD_WAKES_KEPT];
  uint64_t n; /* that ever came */
} td_wakes;

void td_wakes_add(td_wakes *wakes, uint64_t ns);

/* td_wakes_median returns 0 if none came. */
uint32_t td_wakes_median(const td_wakes *wakes);
