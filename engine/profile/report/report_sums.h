/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lives of one segment in sums, before anybody knows what the sums are called: names may come
 * late. Private to engine/profile. Zero-initialise. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/report/report_row.h"

/* The lives that have a number in common. */
typedef struct td_report_sum {
  uint64_t number;
  td_report_row row;                  /* without key and percentiles */
  uint32_t node, thread, queue, pass; /* of the first of these lives: they tell the name */
} td_report_sum;

#define TD_REPORT_SUMS_RECENT 64u

typedef struct td_report_sums {
  td_report_sum *sums; /* (owned) */
  uint32_t n, capacity;
  td_number_map of_number;                /* 1 + the sum */
  uint32_t recent[TD_REPORT_SUMS_RECENT]; /* 1 + a sum, or 0 */
} td_report_sums;

/* td_report_sums_add adds a life to the sum of a number, and returns the sum's place. n_calls is 1,
 * or 0 if its function did not return. */
uint32_t td_report_sums_add(td_report_sums *sums, uint64_t number, const td_life *life,
                            uint32_t n_calls);

/* td_report_row_add adds what another row counts. */
void td_report_row_add(td_report_row *row, const td_report_row *other);

/* td_report_sums_clear forgets all sums. */
void td_report_sums_clear(td_report_sums *sums);
void td_report_sums_fini(td_report_sums *sums);
