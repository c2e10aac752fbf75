/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fewer crossings: from one or two starting orders, sweeps down and up sort each level by the
 * median or the mean of its neighbours. The best order is sifted. A graph too large for that has
 * swaps of neighbours after each sweep. The best order seen wins. */
#include "engine/base/alloc.h"
#include "ui/geometry/crossings.h"
#include "ui/geometry/sifting.h"
#include "ui/geometry/starts.h"

#include <string.h>

enum { N_SWEEPS = 24, MOST_IN_MEDIAN = 64, FEW = 64 };

/* What a graph may cost: the larger it is, the less is tried. */
typedef struct effort {
  uint32_t most_vertices; /* of the graphs that this is for */
  int n_starts;       /* 1: depth first, 2: breadth first too, 3: breadth first from below too */
  int sweeps_in_vain; /* sweeps without progress that end a start */
  int swap_rounds;    /* after each sweep, at most */
  int n_polishes;     /* rounds of sifting, at most; 0: none */
  int budget_share;   /* of td_layout_options.effort: one in so many */
} effort;

/* Chosen by trial: time beside crossings, on the shapes of the bench and on small random graphs. */
static const effort efforts[] = {
    {1000, 4, 8, 30, 20, 1},      /* milliseconds, whatever is tried */
    {6000, 2, 4, 0, 12, 1},       /* sifting finds more than swaps do */
    {20000, 1, 3, 0, 12, 8},      /* one start leaves time to sift */
    {60000, 1, 2, 30, 0, 8},      /* sifting takes squares of a level's width */
    {UINT32_MAX, 1, 2, 2, 0, 8}}; /* even swaps take long */

typedef struct sorter {
  td_levels *levels;
  const effort *effort;
  float *key;           /* [n_vertices] where a vertex wants to be */
  uint32_t *scratch;    /* [2 * widest] */
  uint32_t *tree;       /* [widest + 1] scratch for td_level_crossings */
  uint32_t *best_order; /* [n_placed] */
  uint64_t best;
  int64_t budget; /* steps left */
  bool swap_equals, reverse_equals, by_median;
  td_sifter *sifter;          /* NULL: the graph is too large to sift */
  uint32_t now;               /* counts changes and siftings */
  uint32_t *changed, *sifted; /* [n_levels] when last; sifted: without any gain */
} sorter;

static void
set_positions(td_levels *levels) {
  for (uint32_t l = 0; l < levels->n_levels; l++)
    for (uint32_t i = levels->level_first[l]; i < levels->level_first[l + 1]; i++)
      levels->position[levels->order[i]] = i - levels->level_first[l];
}

static uint64_t
count_all(sorter *self) {
  uint64_t n = 0;
  for (uint32_t l = 0; l + 1 < self->levels->n_levels; l++)
    n += td_level_crossings(self->levels, l, self->tree);
  self->budget -= 2 * (int64_t)self->levels->n_placed;
  return n;
}

static float
median_of(const sorter *self, const uint32_t *neighbours, uint32_t n) {
  float sorted[MOST_IN_MEDIAN];
  uint32_t size = 0;
  for (uint32_t i = 0; i < n; i++) {
    float value = (float)self->levels->position[neighbours[i]];
    uint32_t at = size++;
    for (; at > 0 && sorted[at - 1] > value; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  return n & 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static float
wanted_position(const sorter *self, const td_adjacency *sides, uint32_t vertex) {
  const uint32_t *neighbours = sides->targets + sides->first[vertex];
  uint32_t n = td_degree(sides, vertex);
  if (n == 1) return (float)self->levels->position[neighbours[0]];
  if (self->by_median && n <= MOST_IN_MEDIAN) return median_of(self, neighbours, n);
  double sum = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += self->levels->position[neighbours[i]];
  return (float)(sum / n);
}

/* Counts for each item how many have a smaller key. No branch depends on a key. */
static void
sort_few_by_key(const float *key, uint32_t *items, uint32_t *scratch, uint32_t n) {
  float keys[FEW];
  uint32_t smaller[FEW];
  uint8_t taken[FEW];
  memset(smaller, 0, n * sizeof *smaller);
  memset(taken, 0, n);
  for (uint32_t i = 0; i < n; i++)
    keys[i] = key[items[i]];
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      smaller[j] += keys[i] < keys[j];
  for (uint32_t i = 0; i < n; i++)
    scratch[smaller[i] + taken[smaller[i]]++] = items[i];
  memcpy(items, scratch, n * sizeof *items);
}

/* A stable merge sort by key. */
static void
sort_by_key(const float *key, uint32_t *items, uint32_t *scratch, uint32_t n) {
  uint32_t n_sorted = 1;
  while (n_sorted < n && key[items[n_sorted - 1]] <= key[items[n_sorted]])
    n_sorted++;
  if (n_sorted >= n) return;
  if (n <= FEW) {
    sort_few_by_key(key, items, scratch, n);
    return;
  }
  uint32_t half = n / 2, i = 0, j = half, at = 0;
  sort_by_key(key, items, scratch, half);
  sort_by_key(key, items + half, scratch, n - half);
  if (key[items[half - 1]] <= key[items[half]]) return;
  memcpy(scratch, items, half * sizeof *items);
  while (i < half)
    items[at++] = j < n && key[items[j]] < key[scratch[i]] ? items[j++] : scratch[i++];
}

/* Vertices without neighbours on that side keep their places; the others are sorted among the rest.
 */
static void
sweep_level(sorter *self, uint32_t l, const td_adjacency *sides) {
  td_levels *levels = self->levels;
  uint32_t width = td_level_size(levels, l), n = 0;
  uint32_t *order = levels->order + levels->level_first[l];
  if (width < 2) return;
  for (uint32_t i = 0; i < width; i++) {
    if (!td_degree(sides, order[i])) continue;
    self->key[order[i]] = wanted_position(self, sides, order[i]);
    self->scratch[n++] = order[i];
  }
  for (uint32_t i = 0; self->reverse_equals && i < n / 2; i++) {
    uint32_t other = self->scratch[i];
    self->scratch[i] = self->scratch[n - 1 - i];
    self->scratch[n - 1 - i] = other;
  }
  sort_by_key(self->key, self->scratch, self->scratch + n, n);
  n = 0;
  for (uint32_t i = 0; i < width; i++)
    if (td_degree(sides, order[i])) order[i] = self->scratch[n++];
  for (uint32_t i = 0; i < width; i++)
    levels->position[order[i]] = i;
  self->budget -= 3 * (int64_t)width;
}

static int64_t
cross(const td_levels *levels, const td_adjacency *sides, uint32_t left, uint32_t right) {
  int64_t n = 0;
  for (uint32_t i = sides->first[left]; i < sides->first[left + 1]; i++)
    for (uint32_t j = sides->first[right]; j < sides->first[right + 1]; j++)
      n += (levels->position[sides->targets[i]] > levels->position[sides->targets[j]]) -
           (levels->position[sides->targets[i]] < levels->position[sides->targets[j]]);
  return n;
}

/* How many crossings fewer if two neighbours changed places. */
static int64_t
swap_gain(const td_levels *levels, uint32_t left, uint32_t right) {
  uint64_t work = (uint64_t)td_degree(&levels->down, left) * td_degree(&levels->down, right) +
                  (uint64_t)td_degree(&levels->up, left) * td_degree(&levels->up, right);
  if (work > 4096) return -1;
  return cross(levels, &levels->up, left, right) + cross(levels, &levels->down, left, right);
}

static int64_t
swap_level(sorter *self, uint32_t l) {
  td_levels *levels = self->levels;
  uint32_t *order = levels->order + levels->level_first[l], width = td_level_size(levels, l);
  int64_t gained = 0;
  self->now++;
  for (uint32_t i = 0; i + 1 < width; i++) {
    uint32_t left = order[i], right = order[i + 1];
    int64_t gain = swap_gain(levels, left, right);
    if (gain < 0 || (gain == 0 && !self->swap_equals)) continue;
    gained += gain;
    order[i] = right;
    order[i + 1] = left;
    levels->position[right] = i;
    levels->position[left] = i + 1;
    self->changed[l] = self->now;
  }
  self->budget -= 4 * (int64_t)width;
  return gained;
}

/* Returns how many crossings fewer there are. */
static int64_t
swap_while_better(sorter *self, int most_rounds) {
  int64_t gained = 1, total = 0;
  for (int round = 0; round < most_rounds && self->budget > 0 && (gained || round < 2); round++) {
    gained = 0;
    for (uint32_t l = 0; l < self->levels->n_levels; l++)
      gained += swap_level(self, l);
    self->swap_equals = false;
    total += gained;
  }
  return total;
}

/* True if neither the level nor one beside it has changed since sifting it last gained nothing. */
static bool
is_sifted(const sorter *self, uint32_t l) {
  uint32_t at = self->sifted[l];
  return at > self->changed[l] && (l == 0 || at > self->changed[l - 1]) &&
         (l + 1 == self->levels->n_levels || at > self->changed[l + 1]);
}

static int64_t
sift_level(sorter *self, uint32_t l) {
  if (is_sifted(self, l)) return 0;
  int64_t width = td_level_size(self->levels, l), gained = td_sifter_level(self->sifter, l);
  (gained ? self->changed : self->sifted)[l] = ++self->now;
  self->budget -= width * width;
  return gained;
}

/* Returns how many crossings fewer there are. */
static int64_t
sift_while_better(sorter *self) {
  int64_t gained = 1, total = 0;
  while (gained > 0 && self->budget > 0) {
    gained = 0;
    for (uint32_t l = 0; l < self->levels->n_levels; l++)
      gained += sift_level(self, l);
    total += gained;
  }
  return total;
}

static void
keep_if_best(sorter *self, uint64_t crossings) {
  if (crossings >= self->best) return;
  self->best = crossings;
  memcpy(self->best_order, self->levels->order, self->levels->n_placed * sizeof *self->best_order);
}

static void
sweep_once(sorter *self, int number) {
  td_levels *levels = self->levels;
  self->by_median = number >> 1 & 1;
  self->reverse_equals = (number & 3) >= 2;
  if (number & 1)
    for (uint32_t l = levels->n_levels; l > 1; l--)
      sweep_level(self, l - 2, &levels->down);
  else
    for (uint32_t l = 1; l < levels->n_levels; l++)
      sweep_level(self, l, &levels->up);
  self->swap_equals = (number & 3) == 3;
  swap_while_better(self, self->effort->swap_rounds);
}

static void
improve(sorter *self) {
  uint64_t local = count_all(self);
  int without_progress = 0;
  keep_if_best(self, local);
  for (int i = 0; i < N_SWEEPS && self->best > 0 && self->budget > 0 &&
                  without_progress < self->effort->sweeps_in_vain;
       i++) {
    sweep_once(self, i);
    uint64_t crossings = count_all(self);
    keep_if_best(self, crossings);
    without_progress = (double)crossings < 0.995 * (double)local ? 0 : without_progress + 1;
    local = TD_MIN(local, crossings);
  }
}

/* The best order so far, sifted. Swaps that neither gain nor lose lead on from there. */
static void
polish(sorter *self) {
  td_levels *levels = self->levels;
  if (!self->sifter || self->best == 0) return;
  memcpy(levels->order, self->best_order, levels->n_placed * sizeof *levels->order);
  set_positions(levels);
  uint64_t crossings = self->best;
  for (uint32_t l = 0; l < levels->n_levels; l++)
    self->changed[l] = ++self->now;
  for (int round = 0; round < self->effort->n_polishes && self->budget > 0; round++) {
    crossings -= (uint64_t)sift_while_better(self);
    self->swap_equals = true;
    crossings -= (uint64_t)swap_while_better(self, 1);
    keep_if_best(self, crossings);
  }
}

void
td_levels_sort(td_levels *levels) {
  sorter self = {.levels = levels, .best = UINT64_MAX};
  levels->order = TD_NEW_N(uint32_t, levels->n_placed);
  levels->position = TD_NEW_N(uint32_t, levels->n_vertices);
  self.key = TD_NEW_N(float, levels->n_vertices);
  self.scratch = TD_NEW_N(uint32_t, 2 * (size_t)levels->widest);
  self.tree = TD_NEW_N(uint32_t, (size_t)levels->widest + 1);
  self.best_order = TD_NEW_N(uint32_t, levels->n_placed);
  self.changed = TD_NEW_N(uint32_t, levels->n_levels);
  self.sifted = TD_NEW_N(uint32_t, levels->n_levels);
  self.effort = efforts;
  while (self.effort->most_vertices < levels->n_placed)
    self.effort++;
  self.budget = (int64_t)levels->options->effort * 1000000 / self.effort->budget_share;
  if (self.effort->n_polishes) self.sifter = td_sifter_new(levels);
  for (int i = 0; i < self.effort->n_starts && self.best > 0 && (i == 0 || self.budget > 0); i++) {
    td_levels_start(levels, (td_start)i, self.best_order);
    set_positions(levels);
    improve(&self);
  }
  polish(&self);
  memcpy(levels->order, self.best_order, levels->n_placed * sizeof *levels->order);
  set_positions(levels);
  levels->crossings = self.best == UINT64_MAX ? 0 : self.best;
  free(self.key);
  free(self.scratch);
  free(self.tree);
  free(self.best_order);
  free(self.changed);
  free(self.sifted);
  td_sifter_free(self.sifter);
}
