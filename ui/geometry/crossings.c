/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Segments are visited from left to right by the vertex where they begin. Each crosses the earlier
 * ones that end further right. A Fenwick tree counts those ends in logarithmic time. If the level
 * is narrow, one counter per place is faster: a vector instruction changes many of them. */
#include "ui/geometry/crossings.h"

#include <stdbool.h>
#include <string.h>

enum { NARROW = 128 };

static uint64_t
count_narrow(const td_levels *levels, uint32_t l) {
  int16_t beyond[NARROW] = {0}, width = (int16_t)td_level_size(levels, l + 1);
  uint64_t n = 0;
  for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++) {
    uint32_t begin = levels->down.first[levels->order[i]],
             end = levels->down.first[levels->order[i] + 1];
    for (uint32_t k = begin; k < end; k++)
      n += (uint64_t)beyond[levels->position[levels->down.targets[k]]];
    for (uint32_t k = begin; k < end; k++) {
      int16_t place = (int16_t)levels->position[levels->down.targets[k]];
      for (int16_t p = 0; p < width; p++)
        beyond[p] += p < place;
    }
  }
  return n;
}

static uint64_t
count_above(const uint32_t *tree, uint32_t total, uint32_t position) {
  uint32_t not_above = 0;
  for (uint32_t i = position + 1; i > 0; i -= i & -i)
    not_above += tree[i];
  return total - not_above;
}

static uint64_t
count_wide(const td_levels *levels, uint32_t l, uint32_t *tree) {
  uint32_t width = td_level_size(levels, l + 1), total = 0;
  uint64_t n = 0;
  memset(tree, 0, ((size_t)width + 1) * sizeof *tree);
  for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++) {
    uint32_t begin = levels->down.first[levels->order[i]],
             end = levels->down.first[levels->order[i] + 1];
    for (uint32_t k = begin; k < end; k++)
      n += count_above(tree, total, levels->position[levels->down.targets[k]]);
    for (uint32_t k = begin; k < end; k++)
      for (uint32_t p = levels->position[levels->down.targets[k]] + 1; p <= width; p += p & -p)
        tree[p]++;
    total += end - begin;
  }
  return n;
}

/* The counters of a narrow level have 16 bits. */
uint64_t
td_level_crossings(const td_levels *levels, uint32_t l, uint32_t *tree) {
  uint32_t width = td_level_size(levels, l + 1),
           n_segments = levels->down.first[levels->n_vertices];
  if (width < 2 || td_level_size(levels, l) < 2) return 0;
  bool is_narrow = width <= NARROW && n_segments <= INT16_MAX;
  return is_narrow ? count_narrow(levels, l) : count_wide(levels, l, tree);
}
