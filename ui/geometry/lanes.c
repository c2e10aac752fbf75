/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/lanes.h"

#include "engine/base/alloc.h"

uint32_t
td_lanes_pack(uint32_t n, const uint64_t *begin, const uint64_t *end, uint32_t *rows) {
  uint64_t *free_at = NULL;
  uint32_t n_rows = 0, capacity = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = 0;
    while (row < n_rows && free_at[row] > begin[i])
      row++;
    if (row == n_rows) {
      TD_GROW(free_at, n_rows, capacity);
      n_rows++;
    }
    free_at[row] = end[i];
    rows[i] = row;
  }
  free(free_at);
  return n_rows;
}
