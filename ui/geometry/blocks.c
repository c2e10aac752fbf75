/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Exactly straight chains. Segments that do not cross each other tie vertices into blocks, in the
 * manner of Brandes and Koepf: first the longest path, then long edges, then main children, then
 * the rest. A block wants the mean place of its members. Pushing all blocks rightwards from there,
 * and all leftwards, gives two drawings without overlaps; so is their mean, and in it a block that
 * was free is where it wanted. */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <string.h>

enum { TRUNK, INNER, MAIN, ANY, N_PASSES };

/* How far apart two vertices may be wanted and yet be tied. A tie over more would shear wide
 * graphs. */
static const float furthest[N_PASSES] = {1e30f, 300, 90, 40};

typedef struct blocks {
  td_levels *levels;
  uint32_t *below, *above; /* [n_vertices] tied neighbour, or TD_LAYOUT_NONE */
  uint32_t *block;    /* [n_vertices] number; blocks are numbered by their first vertex in order */
  uint32_t *sequence; /* [n_blocks] blocks from left to right */
  uint32_t n;
  double *wanted, *place; /* [n_blocks] */
  uint32_t *limit;        /* [widest + 1] scratch: ends of ties further right */
} blocks;

static int
pass_of(const td_levels *levels, uint32_t from, uint32_t to) {
  uint32_t n = levels->graph->n_nodes;
  if (from >= n && to >= n) return INNER;
  if (from >= n || to >= n || levels->main_child[from] != to) return ANY;
  return levels->trunk[from] ? TRUNK : MAIN;
}

/* The one neighbour below that a vertex may be tied to in a pass: of several, the middle one. */
static uint32_t
candidate(const blocks *self, uint32_t vertex, int pass, uint32_t from, uint32_t to) {
  const td_levels *levels = self->levels;
  uint32_t first = levels->down.first[vertex], n = td_degree(&levels->down, vertex),
           found = TD_LAYOUT_NONE;
  float best = 0;
  for (uint32_t k = first; k < first + n; k++) {
    uint32_t other = levels->down.targets[k], position = levels->position[other];
    if (self->above[other] != TD_LAYOUT_NONE || position < from || position >= to) continue;
    if (pass < ANY && pass_of(levels, vertex, other) != pass) continue;
    float distance = levels->x[other] - levels->x[vertex];
    if (distance < 0) distance = -distance;
    if (distance > furthest[pass] || (found != TD_LAYOUT_NONE && distance >= best)) continue;
    found = other;
    best = distance;
  }
  return found;
}

/* Ties what can be tied between two levels without crossing an earlier tie. */
static void
tie_level(blocks *self, uint32_t l, int pass) {
  const td_levels *levels = self->levels;
  const uint32_t *order = levels->order + levels->level_first[l];
  uint32_t width = td_level_size(levels, l), from = 0;
  self->limit[width] = td_level_size(levels, l + 1);
  for (uint32_t i = width; i > 0; i--) {
    uint32_t tied = self->below[order[i - 1]];
    self->limit[i - 1] = tied == TD_LAYOUT_NONE ? self->limit[i] : levels->position[tied];
  }
  for (uint32_t i = 0; i < width; i++) {
    uint32_t *tied = &self->below[order[i]];
    if (*tied == TD_LAYOUT_NONE) {
      *tied = candidate(self, order[i], pass, from, self->limit[i]);
      if (*tied == TD_LAYOUT_NONE) continue;
      self->above[*tied] = order[i];
    }
    from = levels->position[*tied] + 1;
  }
}

static void
tie_all(blocks *self) {
  for (uint32_t l = 0; l + 1 < self->levels->n_levels; l++)
    for (int pass = 0; pass < N_PASSES; pass++)
      tie_level(self, l, pass);
}

static void
number_blocks(blocks *self) {
  const td_levels *levels = self->levels;
  for (uint32_t i = 0; i < levels->n_placed; i++) {
    uint32_t vertex = levels->order[i], tied = self->above[vertex];
    self->block[vertex] = tied == TD_LAYOUT_NONE ? self->n++ : self->block[tied];
  }
}

/* Calls for each pair of neighbours in a level: left block, right block. */
typedef void (*pair_visit)(uint32_t left, uint32_t right, void *data);

static void
each_pair(const blocks *self, pair_visit visit, void *data) {
  const td_levels *levels = self->levels;
  for (uint32_t l = 0; l < levels->n_levels; l++)
    for (uint32_t i = levels->level_first[l] + 1; i < levels->level_first[l + 1]; i++)
      visit(self->block[levels->order[i - 1]], self->block[levels->order[i]], data);
}

typedef struct pairs {
  uint32_t *left, *right, n;
} pairs;

static void
collect_pair(uint32_t left, uint32_t right, void *data) {
  pairs *all = data;
  all->left[all->n] = left;
  all->right[all->n++] = right;
}

/* Blocks never cross, so "left of" has no cycles and they can be put in a sequence. */
static void
put_in_sequence(blocks *self) {
  uint32_t n_placed = self->levels->n_placed, n = 0;
  pairs all = {TD_NEW_N(uint32_t, n_placed), TD_NEW_N(uint32_t, n_placed), 0};
  each_pair(self, collect_pair, &all);
  td_adjacency right = td_adjacency_build(self->n, all.n, all.left, all.right);
  uint32_t *waiting = TD_NEW_N(uint32_t, self->n);
  for (uint32_t i = 0; i < all.n; i++)
    waiting[all.right[i]]++;
  for (uint32_t i = 0; i < self->n; i++)
    if (!waiting[i]) self->sequence[n++] = i;
  for (uint32_t at = 0; at < n; at++)
    for (uint32_t k = right.first[self->sequence[at]]; k < right.first[self->sequence[at] + 1]; k++)
      if (--waiting[right.targets[k]] == 0) self->sequence[n++] = right.targets[k];
  td_adjacency_fini(&right);
  free(waiting);
  free(all.left);
  free(all.right);
}

/* The vertices of each block, as slices. */
static td_adjacency
members(const blocks *self) {
  const td_levels *levels = self->levels;
  uint32_t *block = TD_NEW_N(uint32_t, levels->n_placed);
  for (uint32_t i = 0; i < levels->n_placed; i++)
    block[i] = self->block[levels->order[i]];
  td_adjacency table = td_adjacency_build(self->n, levels->n_placed, block, levels->order);
  free(block);
  return table;
}

static void
want_mean(blocks *self, const td_adjacency *table) {
  const td_levels *levels = self->levels;
  for (uint32_t b = 0; b < self->n; b++) {
    double sum = 0;
    for (uint32_t k = table->first[b]; k < table->first[b + 1]; k++)
      sum += levels->x[table->targets[k]];
    self->wanted[b] = sum / TD_MAX(td_degree(table, b), 1u);
  }
}

/* The nearest that a block may come to its neighbours on one side, given their places. */
static double
bound(const blocks *self, const td_adjacency *table, const double *place, uint32_t b,
      bool from_left) {
  const td_levels *levels = self->levels;
  double best = from_left ? -1e30 : 1e30;
  for (uint32_t k = table->first[b]; k < table->first[b + 1]; k++) {
    uint32_t v = table->targets[k], at = levels->position[v];
    const uint32_t *order = levels->order + levels->level_first[levels->level[v]];
    if (from_left && at > 0) {
      double edge = place[self->block[order[at - 1]]] + td_levels_gap(levels, order[at - 1], v);
      best = TD_MAX(best, edge);
    } else if (!from_left && at + 1 < td_level_size(levels, levels->level[v])) {
      double edge = place[self->block[order[at + 1]]] - td_levels_gap(levels, v, order[at + 1]);
      best = TD_MIN(best, edge);
    }
  }
  return best;
}

static void
push_both_ways(blocks *self, const td_adjacency *table) {
  double *rightmost = TD_NEW_N(double, self->n);
  for (uint32_t i = 0; i < self->n; i++) {
    uint32_t b = self->sequence[i];
    rightmost[b] = TD_MAX(self->wanted[b], bound(self, table, rightmost, b, true));
  }
  for (uint32_t i = self->n; i > 0; i--) {
    uint32_t b = self->sequence[i - 1];
    self->place[b] = TD_MIN(self->wanted[b], bound(self, table, self->place, b, false));
  }
  for (uint32_t b = 0; b < self->n; b++)
    self->place[b] = (self->place[b] + rightmost[b]) / 2;
  free(rightmost);
}

/* The mean place of what a block's members are joined to in other blocks; its own place where
 * nothing is. */
static double
pull(const blocks *self, const td_adjacency *table, uint32_t b) {
  const td_levels *levels = self->levels;
  double sum = 0;
  uint32_t n = 0;
  for (uint32_t k = table->first[b]; k < table->first[b + 1]; k++) {
    uint32_t v = table->targets[k];
    for (int side = 0; side < 2; side++) {
      const td_adjacency *sides = side ? &levels->down : &levels->up;
      for (uint32_t e = sides->first[v]; e < sides->first[v + 1]; e++) {
        uint32_t other = self->block[sides->targets[e]];
        if (other == b) continue;
        sum += self->place[other];
        n++;
      }
    }
  }
  return n ? sum / n : self->place[b];
}

/* Blocks move towards their neighbours as far as there is room, twice in each direction. */
static void
relax(blocks *self, const td_adjacency *table) {
  for (int round = 0; round < 4; round++)
    for (uint32_t i = 0; i < self->n; i++) {
      uint32_t b = self->sequence[round & 1 ? self->n - 1 - i : i];
      double low = bound(self, table, self->place, b, true),
             high = bound(self, table, self->place, b, false);
      double there = pull(self, table, b);
      if (low <= high) self->place[b] = TD_MIN(TD_MAX(there, low), high);
    }
}

static void
clear_ties(blocks *self) {
  size_t n = self->levels->n_vertices;
  self->below = TD_NEW_N(uint32_t, n);
  self->above = TD_NEW_N(uint32_t, n);
  self->block = TD_NEW_N(uint32_t, n);
  self->limit = TD_NEW_N(uint32_t, (size_t)self->levels->widest + 1);
  memset(self->below, 0xff, n * sizeof *self->below);
  memset(self->above, 0xff, n * sizeof *self->above);
}

void
td_levels_straighten(td_levels *levels) {
  blocks self = {.levels = levels};
  clear_ties(&self);
  tie_all(&self);
  number_blocks(&self);
  self.sequence = TD_NEW_N(uint32_t, self.n);
  self.wanted = TD_NEW_N(double, self.n);
  self.place = TD_NEW_N(double, self.n);
  put_in_sequence(&self);
  td_adjacency table = members(&self);
  want_mean(&self, &table);
  push_both_ways(&self, &table);
  relax(&self, &table);
  for (uint32_t i = 0; i < levels->n_placed; i++)
    levels->x[levels->order[i]] = (float)self.place[self.block[levels->order[i]]];
  td_adjacency_fini(&table);
  free(self.below);
  free(self.above);
  free(self.block);
  free(self.limit);
  free(self.sequence);
  free(self.wanted);
  free(self.place);
}
