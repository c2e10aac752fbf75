/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows: a walk over one strided array in memory's order. It serves questions whose answer does not
 * depend on the order of the elements. Private to numbers.c. A walk belongs to one thread. */
#pragma once

#include "engine/base/number_array.h"

#include <stdbool.h>

/* A row has elements at equal distances. The walk visits repeated elements (stride 0) once. */
typedef struct td_number_rows {
  const char *at;
  int64_t n, step; /* of a row, in elements */
  int64_t index[TD_NUMBERS_MAX_DIMS], sizes[TD_NUMBERS_MAX_DIMS], strides[TD_NUMBERS_MAX_DIMS];
  int n_dims, n_bytes; /* dimensions outside the row; of an element */
  uint64_t repeat;     /* how often each visited element occurs */
  bool started, empty;
} td_number_rows;

/* td_number_rows_init prepares a walk over an array. An element consists of `n_parts` numbers of
 * `n_bytes` each, side by side. The walk visits the numbers: two per element of two parts. */
void td_number_rows_init(td_number_rows *rows, const td_numbers *numbers, int n_parts, int n_bytes);

/* td_number_rows_next moves to the next row, false after the last. */
bool td_number_rows_next(td_number_rows *rows);
