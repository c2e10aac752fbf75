/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers: how many NaNs and infinities are in an array of numbers, and what the rest is like. The
 * functions only read memory and allocate nothing. Any thread. The caller keeps the array alive. If
 * another thread writes the array meanwhile, a count mixes old and new elements. */
#pragma once

#include "engine/base/number_array.h"

#include <stdbool.h>

#define TD_NUMBERS_NAN 1u
#define TD_NUMBERS_PLUS_INF 2u
#define TD_NUMBERS_MINUS_INF 4u
#define TD_NUMBERS_INF (TD_NUMBERS_PLUS_INF | TD_NUMBERS_MINUS_INF)

/* What td_numbers_measure finds. The statistics are of the finite elements alone, and NaN if there
 * is none. Statistics of complex numbers are of their magnitudes; l2 is the norm either way. A
 * magnitude that overflows is left out. */
typedef struct td_number_stats {
  uint64_t n_elements, n_nan, n_inf; /* a complex number may be both */
  double min, max, absmax, mean, l2;
} td_number_stats;

/* td_number_type_find returns the type with this PyTorch name ("torch.float32"). It returns
 * TD_N_NUMBER_TYPES for a name that it does not know. */
td_number_type td_number_type_find(const char *text);

/* td_numbers_are_readable tells whether the functions below can read the array: it has a known
 * type, not too many dimensions, and memory. The functions find nothing in an unreadable array. */
bool td_numbers_are_readable(const td_numbers *numbers);

/* td_numbers_span writes how many bytes, from `data` on, the elements of a readable array take. It
 * returns false if two elements may lie on each other otherwise than by stride 0, or if strides are
 * negative or out of bounds. */
bool td_numbers_span(const td_numbers *numbers, uint64_t *n_bytes);

/* td_numbers_look returns which of the bits above occur among the elements; 0 for integers. If all
 * elements are finite, it takes one pass at the speed of memory. It reads in memory's order, and
 * each repeated element (stride 0) once. */
unsigned td_numbers_look(const td_numbers *numbers);

/* td_numbers_are_zero tells whether a readable array of floating numbers has elements, and all are
 * zero. It ends at the first block that has another. */
bool td_numbers_are_zero(const td_numbers *numbers);

/* td_numbers_born returns the bits of a result (`after`) that none of its ingredients (`before`)
 * explains. Any infinity explains infinities of both signs, for a sign may change. A NaN explains
 * everything. */
static inline unsigned
td_numbers_born(unsigned before, unsigned after) {
  if (before & TD_NUMBERS_NAN) return 0;
  return after & ~(before & TD_NUMBERS_INF ? TD_NUMBERS_INF : 0);
}

/* td_numbers_count fills in n_elements, n_nan and n_inf, and NaN for the statistics.
 * td_numbers_measure fills in everything. It sums doubles, and scales them first if their squares
 * would overflow or vanish. */
void td_numbers_count(const td_numbers *numbers, td_number_stats *stats);
void td_numbers_measure(const td_numbers *numbers, td_number_stats *stats);

/* td_numbers_survey counts zeros, and elements that equal the one before them in the last
 * dimension. It counts none in complex numbers. It is slower than the functions above. */
void td_numbers_survey(const td_numbers *numbers, uint64_t *n_zero, uint64_t *n_twins);

/* td_numbers_overflow tells whether a finite number of this magnitude becomes an infinity when it
 * is rounded to a type. False for types that are not floating. */
bool td_numbers_overflow(double absmax, td_number_type type);
