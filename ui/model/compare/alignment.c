/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/compare/alignment.h"

#include "engine/base/bisect.h"
#include "engine/events/event.h"

struct td_alignment {
  GArray *pairs;     /* (owned) of td_alignment_pair, by position of side 0 */
  GArray *fixed;     /* (owned) of td_alignment_pair, rising on both sides */
  GArray *places[2]; /* (owned) of guint: pairs with a node, by node of that side and position */
  GArray *lone[2];   /* (owned) of uint32_t, sorted */
  uint64_t first[2], last[2];
};

#define PAIR(array, i) (&g_array_index((array), td_alignment_pair, (i)))
#define PLACE(array, i) g_array_index((array), guint, (i))

td_alignment *
td_alignment_new(void) {
  td_alignment *self = g_new0(td_alignment, 1);
  self->pairs = g_array_new(FALSE, FALSE, sizeof(td_alignment_pair));
  self->fixed = g_array_new(FALSE, FALSE, sizeof(td_alignment_pair));
  for (int side = 0; side < 2; side++) {
    self->places[side] = g_array_new(FALSE, FALSE, sizeof(guint));
    self->lone[side] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  }
  return self;
}

void
td_alignment_free(td_alignment *self) {
  if (!self) return;
  g_array_unref(self->pairs);
  g_array_unref(self->fixed);
  for (int side = 0; side < 2; side++) {
    g_array_unref(self->places[side]);
    g_array_unref(self->lone[side]);
  }
  g_free(self);
}

void
td_alignment_add(td_alignment *self, const td_alignment_pair *pair) {
  g_array_append_vals(self->pairs, pair, 1);
}

void
td_alignment_add_lone(td_alignment *self, int side, uint32_t node) {
  g_array_append_val(self->lone[side], node);
}

/* ---- fixed points ---- */

static gint
compare_pairs(gconstpointer a, gconstpointer b) {
  const td_alignment_pair *left = a, *right = b;
  int side = left->position[0] == right->position[0];
  return (left->position[side] > right->position[side]) -
         (left->position[side] < right->position[side]);
}

static gboolean
is_inside(const td_alignment *self, const td_alignment_pair *pair) {
  for (int side = 0; side < 2; side++)
    if (pair->position[side] <= self->first[side] || pair->position[side] > self->last[side])
      return FALSE;
  return TRUE;
}

/* The end of the longest rising run of each length so far, and what comes before each pair. */
static guint
find_runs(const td_alignment *self, guint *ends, guint *before) {
  guint n = 0;
  for (guint i = 0; i < self->pairs->len; i++) {
    const td_alignment_pair *pair = PAIR(self->pairs, i);
    guint at;
    if (!is_inside(self, pair)) continue;
    TD_BISECT(at, 0, n, PAIR(self->pairs, ends[at])->position[1] < pair->position[1]);
    ends[at] = i;
    before[i] = at ? ends[at - 1] : G_MAXUINT;
    n = MAX(n, at + 1);
  }
  return n;
}

/* Pairs with one position of side 0 stand in falling order of side 1, so that a run has one of
 * them. */
static gint
compare_for_runs(gconstpointer a, gconstpointer b) {
  const td_alignment_pair *left = a, *right = b;
  if (left->position[0] != right->position[0]) return compare_pairs(a, b);
  return (left->position[1] < right->position[1]) - (left->position[1] > right->position[1]);
}

static void
fix(td_alignment *self) {
  guint n_pairs = self->pairs->len;
  g_autofree guint *ends = g_new(guint, n_pairs + 1), *before = g_new(guint, n_pairs + 1);
  g_array_sort(self->pairs, compare_for_runs);
  guint n = find_runs(self, ends, before);
  g_array_set_size(self->fixed, n + 1);
  *PAIR(self->fixed, 0) = (td_alignment_pair){{self->first[0], self->first[1]}, {TD_NONE, TD_NONE}};
  guint at = n ? ends[n - 1] : G_MAXUINT;
  for (guint i = n; i > 0; i--, at = before[at])
    *PAIR(self->fixed, i) = *PAIR(self->pairs, at);
}

/* The ends go together unless pairs say otherwise. */
static void
fix_end(td_alignment *self) {
  const td_alignment_pair *end = PAIR(self->fixed, self->fixed->len - 1);
  td_alignment_pair last = {{self->last[0], self->last[1]}, {TD_NONE, TD_NONE}};
  if (end->position[0] < last.position[0] && end->position[1] < last.position[1])
    g_array_append_val(self->fixed, last);
}

/* ---- nodes ---- */

typedef struct Order {
  const td_alignment *alignment;
  int side;
} Order;

static gint
compare_places(gconstpointer a, gconstpointer b, gpointer data) {
  const Order *order = data;
  const td_alignment_pair *left = PAIR(order->alignment->pairs, *(const guint *)a);
  const td_alignment_pair *right = PAIR(order->alignment->pairs, *(const guint *)b);
  int side = order->side;
  if (left->node[side] != right->node[side]) return left->node[side] < right->node[side] ? -1 : 1;
  return (left->position[side] > right->position[side]) -
         (left->position[side] < right->position[side]);
}

static void
list_places(td_alignment *self, int side) {
  Order order = {self, side};
  for (guint i = 0; i < self->pairs->len; i++)
    if (PAIR(self->pairs, i)->node[side] != TD_NONE) g_array_append_val(self->places[side], i);
  g_array_sort_with_data(self->places[side], compare_places, &order);
}

static gint
compare_nodes(gconstpointer a, gconstpointer b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Each node once, and none that has a pair somewhere. */
static void
thin_out(td_alignment *self, int side) {
  GArray *lone = self->lone[side];
  guint n = 0;
  g_array_sort(lone, compare_nodes);
  for (guint i = 0; i < lone->len; i++) {
    uint32_t node = g_array_index(lone, uint32_t, i);
    if (n && g_array_index(lone, uint32_t, n - 1) == node) continue;
    if (!td_alignment_find(self, side, node, 0)) g_array_index(lone, uint32_t, n++) = node;
  }
  g_array_set_size(lone, n);
}

void
td_alignment_end(td_alignment *self, const uint64_t first[2], const uint64_t last[2]) {
  for (int side = 0; side < 2; side++) {
    self->first[side] = first[side];
    self->last[side] = MAX(first[side], last[side]);
  }
  fix(self);
  fix_end(self);
  for (int side = 0; side < 2; side++) {
    list_places(self, side);
    thin_out(self, side);
  }
}

/* ---- questions ---- */

uint64_t
td_alignment_first(const td_alignment *self, int side) {
  return self->first[side];
}

uint64_t
td_alignment_last(const td_alignment *self, int side) {
  return self->last[side];
}

/* How far the other side may go after a fixed point: not to the next one. */
static uint64_t
room_after(const td_alignment *self, guint fixed, int other) {
  uint64_t from = PAIR(self->fixed, fixed)->position[other];
  if (fixed + 1 == self->fixed->len) return self->last[other] - from;
  return PAIR(self->fixed, fixed + 1)->position[other] - from - 1;
}

uint64_t
td_alignment_map(const td_alignment *self, int side, uint64_t position) {
  guint at;
  position = CLAMP(position, self->first[side], self->last[side]);
  TD_BISECT(at, 1, self->fixed->len, PAIR(self->fixed, at)->position[side] <= position);
  const td_alignment_pair *fixed = PAIR(self->fixed, at - 1);
  return fixed->position[!side] +
         MIN(position - fixed->position[side], room_after(self, at - 1, !side));
}

static const td_alignment_pair *
pair_at(const td_alignment *self, int side, uint32_t node, guint at) {
  const GArray *places = self->places[side];
  const td_alignment_pair *pair = at < places->len ? PAIR(self->pairs, PLACE(places, at)) : NULL;
  return pair && pair->node[side] == node ? pair : NULL;
}

static gboolean
comes_before(const td_alignment_pair *pair, int side, uint32_t node, uint64_t position) {
  return pair->node[side] < node || (pair->node[side] == node && pair->position[side] < position);
}

const td_alignment_pair *
td_alignment_find(const td_alignment *self, int side, uint32_t node, uint64_t position) {
  const GArray *places = self->places[side];
  guint at;
  TD_BISECT(at, 0, places->len,
            comes_before(PAIR(self->pairs, PLACE(places, at)), side, node, position));
  const td_alignment_pair *after = pair_at(self, side, node, at);
  const td_alignment_pair *before = at ? pair_at(self, side, node, at - 1) : NULL;
  if (!before || !after) return before ? before : after;
  return position - before->position[side] <= after->position[side] - position ? before : after;
}

const uint32_t *
td_alignment_get_lone(const td_alignment *self, int side, uint32_t *n) {
  *n = self->lone[side]->len;
  return *n ? &g_array_index(self->lone[side], uint32_t, 0) : NULL;
}

gboolean
td_alignment_is_fixed(const td_alignment *self, const td_alignment_pair *pair) {
  guint at;
  TD_BISECT(at, 0, self->fixed->len, PAIR(self->fixed, at)->position[0] < pair->position[0]);
  return at < self->fixed->len && PAIR(self->fixed, at)->position[0] == pair->position[0] &&
         PAIR(self->fixed, at)->position[1] == pair->position[1];
}
