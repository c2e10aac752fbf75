/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A vertex is compared with all others of its level at once. For each neighbour of the vertex, at
 * place q of the next level, a neighbour of another at place p adds (p > q) - (p < q). The places
 * lie in vectors: one row for the first neighbours of all vertices in their order, one for the
 * second ones, and so on. One instruction compares eight places. */
#include "ui/geometry/sifting.h"

#include "engine/base/alloc.h"

#include <string.h>

enum {
  N_SLOTS = 3,       /* neighbours of a vertex that lie in rows; there are few others */
  N_LANES = 8,       /* of a vector */
  MOST_SUMS = 10000, /* 16 bits hold N_SLOTS times as much */
  NONE_ABOVE = -1,   /* no place is before it */
  NONE_BELOW = INT16_MAX
};

typedef int16_t lanes __attribute__((vector_size(N_LANES * sizeof(int16_t)), may_alias));

/* A neighbour that found no slot. */
typedef struct extra {
  uint32_t vertex; /* whose neighbour it is */
  int32_t place;
} extra;

/* The neighbours of a level on one side. A slot without one has the places NONE_ABOVE and
 * NONE_BELOW, so that neither comparison is true. */
typedef struct side {
  int16_t *above[N_SLOTS], *below[N_SLOTS]; /* (owned) [room] */
  uint32_t n_slots;                         /* that the level needs */
  extra *extras;                            /* (owned) */
  uint32_t n_extras, capacity;
} side;

struct td_sifter {
  td_levels *levels;
  side sides[2];   /* up, down */
  int32_t *gain;   /* (owned) [room] crossings fewer if the vertex goes left past it */
  int16_t *sums;   /* (owned) [room] what is not yet in gain */
  uint32_t n_sums; /* neighbours of the vertex that are in sums */
};

static uint32_t
n_vectors(uint32_t width) {
  return (width + N_LANES - 1) / N_LANES;
}

td_sifter *
td_sifter_new(td_levels *levels) {
  if (levels->widest >= NONE_BELOW) return NULL;
  td_sifter *self = TD_NEW(td_sifter);
  uint32_t room = n_vectors(levels->widest) * N_LANES;
  self->levels = levels;
  self->gain = TD_NEW_N(int32_t, room);
  self->sums = TD_NEW_N(int16_t, room);
  for (int s = 0; s < 2; s++)
    for (int slot = 0; slot < N_SLOTS; slot++) {
      self->sides[s].above[slot] = TD_NEW_N(int16_t, room);
      self->sides[s].below[slot] = TD_NEW_N(int16_t, room);
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
  free(self->sums);
  free(self);
}

static void
put_place(side *side, uint32_t slot, uint32_t at, uint32_t vertex, int16_t place) {
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
    for (uint32_t i = 0; i < n_vectors(width) * N_LANES; i++) {
      side->above[slot][i] = NONE_ABOVE;
      side->below[slot][i] = NONE_BELOW;
    }
  side->n_slots = side->n_extras = 0;
  for (uint32_t i = 0; i < width; i++) {
    uint32_t first = neighbours->first[order[i]], n = td_degree(neighbours, order[i]);
    for (uint32_t k = 0; k < n; k++)
      put_place(side, k, i, order[i], (int16_t)levels->position[neighbours->targets[first + k]]);
  }
}

/* The loop that all time goes into. A comparison that is true gives -1. */
static inline void
compare_slots(lanes *sums, const side *side, uint32_t n_slots, uint32_t n, int16_t place) {
  const lanes *above[N_SLOTS], *below[N_SLOTS];
  for (uint32_t slot = 0; slot < n_slots; slot++) {
    above[slot] = (const lanes *)side->above[slot];
    below[slot] = (const lanes *)side->below[slot];
  }
  for (uint32_t i = 0; i < n; i++) {
    lanes sum = sums[i];
    for (uint32_t slot = 0; slot < n_slots; slot++)
      sum += (below[slot][i] < place) - (above[slot][i] > place);
    sums[i] = sum;
  }
}

/* The compiler unrolls each case. */
static void
compare_rows(lanes *sums, const side *side, uint32_t n, int16_t place) {
  switch (side->n_slots) {
  case 1:
    compare_slots(sums, side, 1, n, place);
    break;
  case 2:
    compare_slots(sums, side, 2, n, place);
    break;
  case 3:
    compare_slots(sums, side, 3, n, place);
    break;
  }
}

static void
take_sums(td_sifter *self, uint32_t width) {
  for (uint32_t i = 0; i < width; i++)
    self->gain[i] += self->sums[i];
  memset(self->sums, 0, width * sizeof *self->sums);
  self->n_sums = 0;
}

/* Adds what the neighbours of the vertex on this side make of all others. */
static void
add_gains(td_sifter *self, const td_adjacency *neighbours, const side *side, uint32_t vertex,
          uint32_t width) {
  const uint32_t *position = self->levels->position;
  for (uint32_t k = neighbours->first[vertex]; k < neighbours->first[vertex + 1]; k++) {
    int16_t place = (int16_t)position[neighbours->targets[k]];
    compare_rows((lanes *)self->sums, side, n_vectors(width), place);
    for (uint32_t i = 0; i < side->n_extras; i++)
      self->gain[position[side->extras[i].vertex]] +=
          (side->extras[i].place > place) - (side->extras[i].place < place);
    if (++self->n_sums == MOST_SUMS) take_sums(self, width);
  }
}

/* Where the vertex at `from` would best stand, and how many crossings fewer that makes. */
static int64_t
best_place(td_sifter *self, uint32_t vertex, uint32_t width, uint32_t from, uint32_t *to) {
  int64_t best = 0, gain = 0;
  *to = from;
  memset(self->gain, 0, width * sizeof *self->gain);
  add_gains(self, &self->levels->up, &self->sides[0], vertex, width);
  add_gains(self, &self->levels->down, &self->sides[1], vertex, width);
  take_sums(self, width);
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
move_item(void *items, size_t item_bytes, uint32_t from, uint32_t to) {
  char *bytes = items, item[sizeof(uint32_t)];
  memcpy(item, bytes + from * item_bytes, item_bytes);
  if (to < from)
    memmove(bytes + (to + 1) * item_bytes, bytes + to * item_bytes, (from - to) * item_bytes);
  else
    memmove(bytes + from * item_bytes, bytes + (from + 1) * item_bytes, (to - from) * item_bytes);
  memcpy(bytes + to * item_bytes, item, item_bytes);
}

static void
move_vertex(td_sifter *self, uint32_t *order, uint32_t from, uint32_t to) {
  move_item(order, sizeof *order, from, to);
  for (uint32_t i = TD_MIN(from, to); i <= TD_MAX(from, to); i++)
    self->levels->position[order[i]] = i;
  for (int s = 0; s < 2; s++)
    for (uint32_t slot = 0; slot < self->sides[s].n_slots; slot++) {
      move_item(self->sides[s].above[slot], sizeof(int16_t), from, to);
      move_item(self->sides[s].below[slot], sizeof(int16_t), from, to);
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
