/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows: the walk over one strided array in memory's order, for questions whose answer does not
 * depend on the order of the elements. Private to numbers.c. On one thread's stack. */
#pragma once

#include "engine/base/numbers.h"

/* Rows of elements at equal distances. Repeated elements (stride 0) are visited once. */
typedef struct td_number_rows {
  const char *at;
  int64_t n, step; /* of a row, in elements */
  int64_t index[TD_NUMBERS_MAX_DIMS], sizes[TD_NUMBERS_MAX_DIMS], strides[TD_NUMBERS_MAX_DIMS];
  int n_dims, n_bytes; /* dimensions outside the row; of an element */
  uint64_t repeat;     /* how often each element visited is there */
  bool started, empty;
} td_number_rows;

/* td_number_rows_init prepares a walk over an array whose elements are `n_parts` numbers of
 * `n_bytes` each, side by side: over the numbers, so that one of two parts has twice as many. */
void td_number_rows_init(td_number_rows *rows, const td_numbers *numbers, int n_parts, int n_bytes);

/* td_number_rows_next moves to the next row, false after the last. */
bool td_number_rows_next(td_number_rows *rows);
