/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Heights of levels, and folding: what is much taller than wide is cut where few edges pass and set
 * in columns side by side. */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <math.h>

static float
level_half_height(const td_levels *levels, uint32_t l) {
  float half = 0;
  for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++)
    if (levels->order[i] < levels->graph->n_nodes)
      half = TD_MAX(half, levels->above[levels->order[i]]);
  return half;
}

/* Edges that run far sideways get more height, so that they do not lie flat. Bundles do. */
static float
gap_below(const td_levels *levels, uint32_t l) {
  float furthest = 0;
  for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++) {
    uint32_t v = levels->order[i];
    for (uint32_t k = levels->down.first[v]; k < levels->down.first[v + 1]; k++) {
      uint32_t to = levels->down.targets[k];
      if (!td_levels_bundles(levels, v, to))
        furthest = TD_MAX(furthest, fabsf(levels->x[to] - levels->x[v]));
    }
  }
  return levels->options->gap_y + TD_MIN(70, TD_MAX(0, furthest - 100) * 0.07f);
}

static void
stack_levels(td_levels *levels) {
  float y = 0;
  for (uint32_t l = 0; l < levels->n_levels; l++) {
    float height = 2 * level_half_height(levels, l);
    levels->level_top[l] = y;
    levels->level_bottom[l] = y + height;
    y += height + gap_below(levels, l);
  }
}

static void
extent(const td_levels *levels, uint32_t from, uint32_t to, float *left, float *right) {
  *left = 1e30f;
  *right = -1e30f;
  for (uint32_t i = levels->level_first[from]; i < levels->level_first[to]; i++) {
    uint32_t v = levels->order[i];
    *left = TD_MIN(*left, levels->x[v] - levels->left[v]);
    *right = TD_MAX(*right, levels->x[v] + levels->right[v]);
  }
}

static uint32_t
count_passing(const td_levels *levels, uint32_t l) {
  uint32_t n = 0;
  for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++)
    n += td_degree(&levels->down, levels->order[i]);
  return n;
}

static uint32_t
choose_n_columns(const td_levels *levels) {
  const td_layout_options *options = levels->options;
  float height = levels->level_bottom[levels->n_levels - 1], left, right;
  if (options->aspect <= 0 || height <= options->fold_height) return 1;
  extent(levels, 0, levels->n_levels, &left, &right);
  double n = sqrt(options->aspect * height / (right - left + 60.0));
  return (uint32_t)TD_MIN(TD_MAX(n + 0.5, 1.0), (double)levels->n_levels);
}

/* Between two heights, the level after which the fewest edges pass; of equals, the one nearest the
 * middle. */
static uint32_t
best_cut(const td_levels *levels, uint32_t first, float from, float to) {
  uint32_t best = TD_LAYOUT_NONE, fewest = 0;
  float middle = (from + to) / 2, nearest = 0;
  for (uint32_t l = first; l + 1 < levels->n_levels && levels->level_bottom[l] <= to; l++) {
    if (levels->level_bottom[l] < from) continue;
    uint32_t n = count_passing(levels, l);
    float distance = fabsf(levels->level_bottom[l] - middle);
    if (best != TD_LAYOUT_NONE && (n > fewest || (n == fewest && distance >= nearest))) continue;
    best = l;
    fewest = n;
    nearest = distance;
  }
  return best;
}

static void
assign_columns(td_levels *levels, uint32_t n_wanted) {
  float total = levels->level_bottom[levels->n_levels - 1];
  uint32_t first = 0;
  levels->n_columns = 0;
  while (first < levels->n_levels) {
    float top = levels->level_top[first];
    uint32_t last = levels->n_levels - 1;
    if (levels->n_columns + 1 < n_wanted) {
      float each = (total - top) / (float)(n_wanted - levels->n_columns);
      uint32_t cut = best_cut(levels, first, top + 0.8f * each, top + 1.12f * each);
      if (cut != TD_LAYOUT_NONE) last = cut;
    }
    for (uint32_t l = first; l <= last; l++)
      levels->level_column[l] = levels->n_columns;
    levels->n_columns++;
    first = last + 1;
  }
}

/* Room to the right of a column for the edges that leave it by the side. */
static float
gutter_width(const td_levels *levels, const uint32_t *n_around, uint32_t column, uint32_t last) {
  uint32_t n = n_around[column];
  if (column + 1 < levels->n_columns) n += count_passing(levels, last);
  return (column + 1 < levels->n_columns ? 56 : n ? 24 : 0) + 6 * (float)TD_MIN(n, 10u);
}

static uint32_t *
count_around(const td_levels *levels) {
  uint32_t *n = TD_NEW_N(uint32_t, levels->n_columns);
  for (uint32_t i = 0; i < levels->graph->n_edges; i++)
    if (levels->route[i] == TD_ROUTE_AROUND && !td_levels_stays(levels, i))
      n[levels->level_column[levels->level[levels->graph->from[i]]]]++;
  return n;
}

static void
move_column(td_levels *levels, uint32_t first, uint32_t end, float dx, float dy) {
  for (uint32_t i = levels->level_first[first]; i < levels->level_first[end]; i++)
    levels->x[levels->order[i]] += dx;
  for (uint32_t l = first; l < end; l++) {
    levels->level_top[l] += dy;
    levels->level_bottom[l] += dy;
  }
}

static void
set_columns(td_levels *levels) {
  uint32_t *n_around = count_around(levels), first = 0;
  float x = 0;
  for (uint32_t c = 0; c < levels->n_columns; c++) {
    uint32_t end = first;
    float left, right;
    while (end < levels->n_levels && levels->level_column[end] == c)
      end++;
    extent(levels, first, end, &left, &right);
    move_column(levels, first, end, x - left, -levels->level_top[first]);
    levels->column_right[c] = x + right - left;
    levels->column_height = TD_MAX(levels->column_height, levels->level_bottom[end - 1]);
    x = levels->column_right[c] + gutter_width(levels, n_around, c, end - 1);
    first = end;
  }
  free(n_around);
}

void
td_levels_fold(td_levels *levels) {
  levels->level_column = TD_NEW_N(uint32_t, levels->n_levels);
  levels->level_top = TD_NEW_N(float, levels->n_levels);
  levels->level_bottom = TD_NEW_N(float, levels->n_levels);
  if (!levels->n_levels) return;
  stack_levels(levels);
  assign_columns(levels, choose_n_columns(levels));
  levels->column_right = TD_NEW_N(float, levels->n_columns);
  set_columns(levels);
}
