/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A vertex is compared with all others of its level at once. For each neighbour of the vertex, at
 * place q of the next level, a neighbour of another at place p adds (p > q) - (p < q). The
 * compiler makes vector instructions of that, if the places lie in arrays: one for the first
 * neighbours of all vertices in their order, one for the second ones, and so on. */
#include "ui/geometry/sifting.h"

#include "engine/base/alloc.h"

#include <string.h>

enum { N_SLOTS = 3 }; /* neighbours of a vertex that lie in arrays; there are few others */

/* A neighbour that found no slot. */
typedef struct extra {
  uint32_t vertex; /* whose neighbour it is */
  int32_t place;
} extra;

/* The neighbours of a level on one side. A slot without one has the places -1 and INT32_MAX, so
 * that neither comparison is true. */
typedef struct side {
  int32_t *above[N_SLOTS], *below[N_SLOTS]; /* (owned) [widest] */
  uint32_t n_slots;                         /* that the level needs */
  extra *extras;                            /* (owned) */
  uint32_t n_extras, capacity;
} side;

struct td_sifter {
  td_levels *levels;
  side sides[2]; /* up, down */
  int32_t *gain; /* (owned) [widest] crossings fewer if the vertex goes left past it */
};

td_sifter *
td_sifter_new(td_levels *levels) {
  td_sifter *self = TD_NEW(td_sifter);
  self->levels = levels;
  self->gain = TD_NEW_N(int32_t, levels->widest);
  for (int s = 0; s < 2; s++)
    for (int slot = 0; slot < N_SLOTS; slot++) {
      self->sides[s].above[slot] = TD_NEW_N(int32_t, levels->widest);
      self->sides[s].below[slot] = TD_NEW_N(int32_t, levels->widest);
    }
  return self;
}

void
td_sifter_free(td_sifter *self) {
  if (!self) return;
  for (int s = 0; s < 2; s++) {
    for (int slot = 0; slot < N_SLOTS; slot++) {
      free(self->sides[s].above[slot]);
      free(self->sides[s].below[slot]);
    }
    free(self->sides[s].extras);
  }
  free(self->gain);
  free(self);
}

static void
put_place(side *side, uint32_t slot, uint32_t at, uint32_t vertex, int32_t place) {
  if (slot < N_SLOTS) {
    side->above[slot][at] = side->below[slot][at] = place;
    if (slot >= side->n_slots) side->n_slots = slot + 1;
    return;
  }
  TD_GROW(side->extras, side->n_extras, side->capacity);
  side->extras[side->n_extras++] = (extra){vertex, place};
}

static void
load_side(td_sifter *self, uint32_t l, const td_adjacency *neighbours, side *side) {
  const td_levels *levels = self->levels;
  const uint32_t *order = levels->order + levels->level_first[l];
  uint32_t width = td_level_size(levels, l);
  for (int slot = 0; slot < N_SLOTS; slot++)
    for (uint32_t i = 0; i < width; i++) {
      side->above[slot][i] = -1;
      side->below[slot][i] = INT32_MAX;
    }
  side->n_slots = side->n_extras = 0;
  for (uint32_t i = 0; i < width; i++) {
    uint32_t first = neighbours->first[order[i]], n = td_degree(neighbours, order[i]);
    for (uint32_t k = 0; k < n; k++)
      put_place(side, k, i, order[i], (int32_t)levels->position[neighbours->targets[first + k]]);
  }
}

/* The loop that all time goes into. */
static void
compare_slot(int32_t *restrict gain, const int32_t *restrict above, const int32_t *restrict below,
             uint32_t n, int32_t place) {
  for (uint32_t i = 0; i < n; i++)
    gain[i] += (above[i] > place) - (below[i] < place);
}

/* Adds what one neighbour of the vertex, at this place, makes of all others. */
static void
compare_with_all(td_sifter *self, const side *side, uint32_t width, int32_t place) {
  for (uint32_t slot = 0; slot < side->n_slots; slot++)
    compare_slot(self->gain, side->above[slot], side->below[slot], width, place);
  for (uint32_t i = 0; i < side->n_extras; i++)
    self->gain[self->levels->position[side->extras[i].vertex]] +=
        (side->extras[i].place > place) - (side->extras[i].place < place);
}

static void
fill_gains(td_sifter *self, uint32_t vertex, uint32_t width) {
  const td_levels *levels = self->levels;
  const td_adjacency *neighbours[] = {&levels->up, &levels->down};
  memset(self->gain, 0, width * sizeof *self->gain);
  for (int s = 0; s < 2; s++)
    for (uint32_t k = neighbours[s]->first[vertex]; k < neighbours[s]->first[vertex + 1]; k++)
      compare_with_all(self, &self->sides[s], width,
                       (int32_t)levels->position[neighbours[s]->targets[k]]);
}

/* Where the vertex at `from` would best stand, and how many crossings fewer that makes. */
static int64_t
best_place(td_sifter *self, uint32_t vertex, uint32_t width, uint32_t from, uint32_t *to) {
  int64_t best = 0, gain = 0;
  *to = from;
  fill_gains(self, vertex, width);
  for (uint32_t i = from; i > 0; i--) {
    gain += self->gain[i - 1];
    if (gain <= best) continue;
    best = gain;
    *to = i - 1;
  }
  gain = 0;
  for (uint32_t i = from + 1; i < width; i++) {
    gain -= self->gain[i];
    if (gain <= best) continue;
    best = gain;
    *to = i;
  }
  return best;
}

static void
move_item(int32_t *items, uint32_t from, uint32_t to) {
  int32_t item = items[from];
  if (to < from)
    memmove(items + to + 1, items + to, (from - to) * sizeof *items);
  else
    memmove(items + from, items + from + 1, (to - from) * sizeof *items);
  items[to] = item;
}

static void
move_vertex(td_sifter *self, uint32_t *order, uint32_t from, uint32_t to) {
  move_item((int32_t *)order, from, to);
  for (uint32_t i = TD_MIN(from, to); i <= TD_MAX(from, to); i++)
    self->levels->position[order[i]] = i;
  for (int s = 0; s < 2; s++)
    for (uint32_t slot = 0; slot < self->sides[s].n_slots; slot++) {
      move_item(self->sides[s].above[slot], from, to);
      move_item(self->sides[s].below[slot], from, to);
    }
}

int64_t
td_sifter_level(td_sifter *self, uint32_t l) {
  td_levels *levels = self->levels;
  uint32_t *order = levels->order + levels->level_first[l], width = td_level_size(levels, l);
  int64_t gained = 0;
  load_side(self, l, &levels->up, &self->sides[0]);
  load_side(self, l, &levels->down, &self->sides[1]);
  for (uint32_t i = 0; i < width; i++) {
    uint32_t to;
    int64_t gain = best_place(self, order[i], width, i, &to);
    if (gain <= 0) continue;
    gained += gain;
    move_vertex(self, order, i, to);
  }
  return gained;
}
