/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For test_numerics.py: measures arrays. On standard input, for each: a line "TYPE N_DIMS SIZES...
 * STRIDES... FIRST N_BYTES" and that many bytes of memory; the first element is at byte FIRST. On
 * standard output a line each: look, n_elements, n_nan, n_inf, min, max, absmax, mean, l2. */
#include "engine/base/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t
read_number(void) {
  int64_t number = 0;
  if (scanf("%" SCNd64, &number) != 1) exit(2);
  return number;
}

int
main(void) {
  char type[32];
  while (scanf("%31s", type) == 1) {
    int64_t sizes[TD_NUMBERS_MAX_DIMS], strides[TD_NUMBERS_MAX_DIMS];
    td_numbers numbers = {.type = td_number_type_find(type), .sizes = sizes, .strides = strides};
    numbers.n_dims = (int)read_number();
    for (int dim = 0; dim < numbers.n_dims; dim++)
      sizes[dim] = read_number();
    for (int dim = 0; dim < numbers.n_dims; dim++)
      strides[dim] = read_number();
    int64_t first_byte = read_number();
    size_t n_bytes = (size_t)read_number();
    char *memory = malloc(n_bytes + 1);
    if (getchar() != '\n' || fread(memory, 1, n_bytes, stdin) != n_bytes) return 2;
    numbers.data = memory + first_byte;
    td_number_stats stats;
    td_numbers_measure(&numbers, &stats);
    printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g %.17g %.17g %.17g %.17g\n",
           td_numbers_look(&numbers), stats.n_elements, stats.n_nan, stats.n_inf, stats.min,
           stats.max, stats.absmax, stats.mean, stats.l2);
    free(memory);
  }
  return 0;
}
