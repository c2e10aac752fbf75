/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/holdings.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"

/* ---- heaps ---- */

static bool
is_larger(const td_holdings *self, td_holding_entry a, td_holding_entry b) {
  if (a.bytes != b.bytes) return a.bytes > b.bytes;
  return self->items[a.holding].since_seq < self->items[b.holding].since_seq;
}

static void
set_entry(td_holdings *self, td_holding_heap *heap, uint32_t at, td_holding_entry entry) {
  heap->entries[at] = entry;
  self->items[entry.holding].place = at;
}

static void
sift_up(td_holdings *self, td_holding_heap *heap, uint32_t at, td_holding_entry entry) {
  for (; at > 0; at = (at - 1) / 2) {
    td_holding_entry parent = heap->entries[(at - 1) / 2];
    if (!is_larger(self, entry, parent)) break;
    set_entry(self, heap, at, parent);
  }
  set_entry(self, heap, at, entry);
}

static void
sift_down(td_holdings *self, td_holding_heap *heap, uint32_t at, td_holding_entry entry) {
  for (uint32_t child = 2 * at + 1; child < heap->n; child = 2 * at + 1) {
    if (child + 1 < heap->n && is_larger(self, heap->entries[child + 1], heap->entries[child]))
      child++;
    if (!is_larger(self, heap->entries[child], entry)) break;
    set_entry(self, heap, at, heap->entries[child]);
    at = child;
  }
  set_entry(self, heap, at, entry);
}

static void
enter(td_holdings *self, uint32_t holding) {
  td_holding *item = &self->items[holding];
  td_holding_heap *heap = &self->heaps[item->group];
  TD_GROW(heap->entries, heap->n, heap->capacity);
  self->bytes[item->group] += item->bytes;
  sift_up(self, heap, heap->n++, (td_holding_entry){item->bytes, holding});
}

static void
leave(td_holdings *self, uint32_t holding) {
  td_holding *item = &self->items[holding];
  td_holding_heap *heap = &self->heaps[item->group];
  uint32_t at = item->place;
  td_holding_entry last = heap->entries[--heap->n];
  self->bytes[item->group] -= item->bytes;
  item->place = TD_NONE;
  if (at == heap->n) return;
  bool rises = at > 0 && is_larger(self, last, heap->entries[(at - 1) / 2]);
  rises ? sift_up(self, heap, at, last) : sift_down(self, heap, at, last);
}

/* ---- rings ---- */

static void
cut_out(td_holdings *self, uint32_t holding) {
  td_holding *item = &self->items[holding];
  self->items[item->left].right = item->right;
  self->items[item->right].left = item->left;
  item->left = item->right = holding;
}

void
td_holdings_join(td_holdings *self, uint32_t holding, uint32_t other) {
  td_holding *item = &self->items[holding], *left = &self->items[other];
  item->left = other;
  item->right = left->right;
  self->items[left->right].left = holding;
  left->right = holding;
}

void
td_holdings_share(td_holdings *self, uint32_t holding, uint32_t other) {
  leave(self, holding);
  td_holdings_join(self, holding, self->items[other].left);
  self->items[other].n_sharing++;
}

/* ---- holdings ---- */

uint32_t
td_holdings_add(td_holdings *self, td_holding holding) {
  uint32_t number = self->first_free - 1;
  if (self->first_free) {
    self->first_free = self->items[number].next;
  } else {
    TD_GROW(self->items, self->n, self->capacity);
    number = self->n++;
  }
  holding.left = holding.right = number;
  holding.next = 0;
  self->items[number] = holding;
  enter(self, number);
  return number;
}

/* A view keeps the whole storage. */
static void
inherit(td_holdings *self, uint32_t heir, const td_holding *from) {
  td_holding *item = &self->items[heir];
  item->bytes = TD_MAX(item->bytes, from->bytes);
  item->n_sharing = from->n_sharing - 1;
  enter(self, heir);
}

void
td_holdings_remove(td_holdings *self, uint32_t holding) {
  td_holding *item = &self->items[holding];
  uint32_t heir = item->right;
  bool leaves_heir = heir != holding && self->items[heir].place == TD_NONE;
  bool had_place = item->place != TD_NONE;
  if (had_place) leave(self, holding);
  if (had_place && leaves_heir) inherit(self, heir, item);
  cut_out(self, holding);
  item->next = self->first_free;
  self->first_free = holding + 1;
}

void
td_holdings_set_bytes(td_holdings *self, uint32_t holding, uint64_t bytes) {
  leave(self, holding);
  self->items[holding].bytes = bytes;
  enter(self, holding);
}

void
td_holdings_set_group(td_holdings *self, uint32_t holding, td_holding_group group) {
  bool has_place = self->items[holding].place != TD_NONE;
  if (self->items[holding].group == group) return;
  if (has_place) leave(self, holding);
  self->items[holding].group = group;
  if (has_place) enter(self, holding);
}

/* ---- the largest ---- */

typedef struct frontier {
  struct {
    td_holding_entry entry;
    const td_holding_heap *heap;
    uint32_t at;
  } * items;
  uint32_t n, capacity;
} frontier;

static void
reach(frontier *frontier, const td_holding_heap *heap, uint32_t at) {
  if (at >= heap->n) return;
  TD_GROW(frontier->items, frontier->n, frontier->capacity);
  frontier->items[frontier->n].entry = heap->entries[at];
  frontier->items[frontier->n].heap = heap;
  frontier->items[frontier->n++].at = at;
}

/* Takes the largest, and reaches those below it. */
static uint32_t
advance(const td_holdings *self, frontier *frontier) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < frontier->n; i++)
    if (is_larger(self, frontier->items[i].entry, frontier->items[best].entry)) best = i;
  const td_holding_heap *heap = frontier->items[best].heap;
  uint32_t at = frontier->items[best].at, holding = frontier->items[best].entry.holding;
  frontier->items[best] = frontier->items[--frontier->n];
  reach(frontier, heap, 2 * at + 1);
  reach(frontier, heap, 2 * at + 2);
  return holding;
}

uint32_t
td_holdings_list(const td_holdings *self, unsigned groups, uint32_t *out, uint32_t limit) {
  frontier frontier = {0};
  uint32_t n = 0;
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
    if (groups & 1u << group) reach(&frontier, &self->heaps[group], 0);
  while (n < limit && frontier.n)
    out[n++] = advance(self, &frontier);
  free(frontier.items);
  return n;
}

void
td_holdings_fini(td_holdings *self) {
  free(self->items);
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++)
    free(self->heaps[group].entries);
  *self = (td_holdings){0};
}
