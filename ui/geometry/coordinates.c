/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where vertices stand in their level: the order is kept, each wants to stand under its neighbours,
 * and those that want to overlap share a place between them (weighted isotonic regression by
 * pooling adjacent violators). The longest path is pinned to 0, without which deep graphs drift
 * sideways. */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <string.h>

/* A run of neighbours that stand as close as they may. */
typedef struct pool {
  double place, weight;
  uint32_t n;
} pool;

typedef struct spreader {
  td_levels *levels;
  pool *pools;    /* [widest] */
  float *offsets; /* [widest] from the first of the level, standing close */
} spreader;

static double
weight_of(const td_levels *levels, uint32_t from, uint32_t to) {
  uint32_t n = levels->graph->n_nodes;
  if (from < n && to < n) return levels->main_child[from] == to ? 1e5 : 1;
  return from >= n && to >= n ? 800 : 20;
}

static void
add_neighbours(const td_levels *levels, uint32_t vertex, bool below, double *sum, double *weight) {
  const td_adjacency *sides = below ? &levels->down : &levels->up;
  for (uint32_t k = sides->first[vertex]; k < sides->first[vertex + 1]; k++) {
    uint32_t other = sides->targets[k];
    double share = below ? weight_of(levels, vertex, other) : weight_of(levels, other, vertex);
    *sum += share * levels->x[other];
    *weight += share;
  }
}

static pool
wanted_place(const td_levels *levels, uint32_t vertex, bool above, bool below) {
  if (vertex < levels->graph->n_nodes && levels->trunk[vertex]) return (pool){0, 1e9, 1};
  double sum = 0, weight = 0;
  if (above) add_neighbours(levels, vertex, false, &sum, &weight);
  if (below) add_neighbours(levels, vertex, true, &sum, &weight);
  return weight > 0 ? (pool){sum / weight, weight, 1} : (pool){levels->x[vertex], 1e-3, 1};
}

static void
place_level(spreader *self, uint32_t l, bool above, bool below) {
  td_levels *levels = self->levels;
  const uint32_t *order = levels->order + levels->level_first[l];
  uint32_t width = td_level_size(levels, l), n = 0;
  float offset = 0;
  for (uint32_t i = 0; i < width; i++) {
    if (i) offset += td_levels_gap(levels, order[i - 1], order[i]);
    self->offsets[i] = offset;
    pool next = wanted_place(levels, order[i], above, below);
    next.place -= offset;
    for (; n && self->pools[n - 1].place >= next.place; n--) {
      const pool *last = &self->pools[n - 1];
      double weight = last->weight + next.weight;
      next.place = (last->place * last->weight + next.place * next.weight) / weight;
      next.weight = weight;
      next.n += last->n;
    }
    self->pools[n++] = next;
  }
  for (uint32_t i = 0, p = 0; p < n; p++)
    for (uint32_t k = 0; k < self->pools[p].n; k++, i++)
      levels->x[order[i]] = (float)self->pools[p].place + self->offsets[i];
}

static void
place_close(td_levels *levels) {
  for (uint32_t l = 0; l < levels->n_levels; l++) {
    const uint32_t *order = levels->order + levels->level_first[l];
    uint32_t width = td_level_size(levels, l);
    float total = 0;
    for (uint32_t i = 0; i < width; i++) {
      if (i) total += td_levels_gap(levels, order[i - 1], order[i]);
      levels->x[order[i]] = total;
    }
    for (uint32_t i = 0; i < width; i++)
      levels->x[order[i]] -= total / 2;
  }
}

void
td_levels_spread(td_levels *levels) {
  spreader self = {levels, TD_NEW_N(pool, levels->widest), TD_NEW_N(float, levels->widest)};
  levels->x = TD_NEW_N(float, levels->n_vertices);
  place_close(levels);
  for (int round = 0; round < 4; round++) {
    bool both = round == 3;
    for (uint32_t l = 1; l < levels->n_levels; l++)
      place_level(&self, l, true, both);
    for (uint32_t l = levels->n_levels; l > 1; l--)
      place_level(&self, l - 2, both, true);
  }
  free(self.pools);
  free(self.offsets);
}
