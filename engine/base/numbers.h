/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers: what is in an array of numbers in memory, described by its address, type, sizes and
 * strides: how many NaNs and infinities, and what the rest is like. Only reads memory, allocates
 * nothing; any thread. Whoever asks sees to it that the array stays there; where another thread
 * writes it meanwhile, the counts are of some moment of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* TD_NUMBER_TYPE(constant, bytes of an element, name as PyTorch prints it) */
#define TD_NUMBER_TYPES(X)                                                                         \
  X(FLOAT16, 2, "torch.float16")                                                                   \
  X(BFLOAT16, 2, "torch.bfloat16")                                                                 \
  X(FLOAT32, 4, "torch.float32")                                                                   \
  X(FLOAT64, 8, "torch.float64")                                                                   \
  X(COMPLEX32, 4, "torch.complex32")                                                               \
  X(COMPLEX64, 8, "torch.complex64")                                                               \
  X(COMPLEX128, 16, "torch.complex128")                                                            \
  X(BOOL, 1, "torch.bool")                                                                         \
  X(UINT8, 1, "torch.uint8")                                                                       \
  X(INT8, 1, "torch.int8")                                                                         \
  X(INT16, 2, "torch.int16")                                                                       \
  X(INT32, 4, "torch.int32")                                                                       \
  X(INT64, 8, "torch.int64")

typedef enum td_number_type {
#define X(name, n_bytes, text) TD_NUMBER_##name,
  TD_NUMBER_TYPES(X)
#undef X
      TD_N_NUMBER_TYPES /* also: a type that is not known here */
} td_number_type;

#define TD_NUMBERS_MAX_DIMS 64 /* PyTorch's greatest number of dimensions */

typedef struct td_numbers {
  const void *data; /* (borrowed) the first element; may be NULL where there are none */
  td_number_type type;
  int n_dims;
  const int64_t *sizes, *strides; /* (borrowed) [n_dims]; strides in elements, 0 repeats */
} td_numbers;

#define TD_NUMBERS_NAN 1u
#define TD_NUMBERS_PLUS_INF 2u
#define TD_NUMBERS_MINUS_INF 4u
#define TD_NUMBERS_INF (TD_NUMBERS_PLUS_INF | TD_NUMBERS_MINUS_INF)

/* What td_numbers_measure finds. The statistics are of the finite elements alone: of a complex
 * number's magnitude, but l2, which is the norm in any case. NaN where there is no finite one. */
typedef struct td_number_stats {
  uint64_t n_elements, n_nan, n_inf; /* a complex number may be both */
  double min, max, absmax, mean, l2;
} td_number_stats;

/* td_number_type_find returns the type of PyTorch's name ("torch.float32"), TD_N_NUMBER_TYPES
 * where it has no counterpart here. */
td_number_type td_number_type_find(const char *text);

/* td_numbers_are_readable tells whether the functions below can read the array: a known type, not
 * too many dimensions, memory behind it. They see nothing in one that is not. */
bool td_numbers_are_readable(const td_numbers *numbers);

/* td_numbers_look returns which of these bits are among the elements; 0 for integers. All finite is
 * one pass at the speed of memory; strided dimensions that fill memory are read in memory's order,
 * repeated ones once. */
unsigned td_numbers_look(const td_numbers *numbers);

/* td_numbers_born returns what is in a result and was in none of its ingredients: of an infinity
 * only the kind, for a sign may change; nothing where a NaN was among them, since anything may come
 * of it. */
static inline unsigned
td_numbers_born(unsigned before, unsigned after) {
  if (before & TD_NUMBERS_NAN) return 0;
  return after & ~(before & TD_NUMBERS_INF ? TD_NUMBERS_INF : 0);
}

/* td_numbers_count fills in n_elements, n_nan and n_inf, and NaN for the statistics;
 * td_numbers_measure fills in everything. Sums are of doubles, scaled where squares would overflow
 * or vanish. */
void td_numbers_count(const td_numbers *numbers, td_number_stats *stats);
void td_numbers_measure(const td_numbers *numbers, td_number_stats *stats);
