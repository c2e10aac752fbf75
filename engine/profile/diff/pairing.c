/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/pairing.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/hash.h"
#include "engine/profile/diff/pass_side.h"
#include "engine/profile/diff/sequence.h"

/* Note [Absent is not different]
 * An imported trace has no edges but some to leaves, without output_nr, and perhaps no sequence
 * numbers. A recording of the same program has both. So the two are compared in what both know: the
 * order in which nodes ran. Without the numbers of one side, that order takes the place of the
 * forward order on both. Without the edges of one side, leaves are paired in that order. */

/* Where an edge leads to, by its output and its input. */
typedef struct target {
  uint64_t output_and_input;
  uint32_t order, place;
} target;

typedef struct pairing {
  td_pass_side a, b;
  uint32_t *stack; /* (owned) places of a whose edges are to be followed */
  uint32_t n_stack;
  target *targets; /* (owned) of the edges of a node of b */
  uint32_t n_targets, targets_capacity;
  bool has_edges; /* both tapes have all edges */
} pairing;

/* Exact alignment */

static bool
look_alike(const pairing *self, uint32_t place) {
  uint64_t shape_a = self->a.shapes[place], shape_b = self->b.shapes[place];
  return self->a.names[place] == self->b.names[place] &&
         (shape_a == shape_b || shape_a == 0 || shape_b == 0);
}

static bool
lead_alike(pairing *self, uint32_t place) {
  td_inside_edges_begin(&self->a.edges, &self->a.inside, td_pass_side_node(&self->a, place));
  td_inside_edges_begin(&self->b.edges, &self->b.inside, td_pass_side_node(&self->b, place));
  for (;;) {
    const td_catalog_edge *a = td_inside_edges_next(&self->a.edges);
    const td_catalog_edge *b = td_inside_edges_next(&self->b.edges);
    if (!a || !b) return a == b;
    if (a->output_nr != b->output_nr || a->input_nr != b->input_nr ||
        *td_pass_side_target(&self->a, a) != *td_pass_side_target(&self->b, b))
      return false;
  }
}

static void
pair(pairing *self, uint32_t place_a, uint32_t place_b) {
  uint32_t visit_a = self->a.order[place_a], visit_b = self->b.order[place_b];
  self->a.partners[visit_a] = visit_b;
  self->b.partners[visit_b] = visit_a;
  self->stack[self->n_stack++] = place_a;
}

static bool
are_equal(pairing *self) {
  if (!self->has_edges || self->a.n != self->b.n || self->a.n_inner != self->b.n_inner)
    return false;
  for (uint32_t place = 0; place < self->a.n; place++)
    if (!look_alike(self, place) || !lead_alike(self, place)) return false;
  return true;
}

/* What was added or removed */

static uint32_t
partner_place(const pairing *self, uint32_t place_a) {
  const td_visit *visits = self->b.visits->visits;
  return self->b.places[visits[self->a.partners[self->a.order[place_a]]].row];
}

static bool
is_free(const td_pass_side *side, uint32_t place) {
  return side->partners[side->order[place]] == TD_NONE;
}

/* A key per place: name and shape, the shape only where both tapes have shapes at all. */
static uint64_t *
keys_of(const td_pass_side *side, uint32_t first, uint32_t end, bool with_shapes) {
  uint64_t *keys = td_try_alloc(end - first, sizeof *keys);
  for (uint32_t place = first; keys && place < end; place++)
    keys[place - first] =
        side->names[place] ^ (with_shapes ? side->shapes[place] * 0x9e3779b97f4a7c15u : 0);
  return keys;
}

/* A range of places on each side. */
typedef struct ranges {
  uint32_t first_a, end_a, first_b, end_b;
} ranges;

/* Pairs what is common to both ranges, in order. */
static td_status
pair_common(pairing *self, ranges ranges, bool with_shapes) {
  uint32_t n_a = ranges.end_a - ranges.first_a, n_b = ranges.end_b - ranges.first_b;
  if (n_a == 0 || n_b == 0) return TD_OK;
  uint64_t *keys_a = keys_of(&self->a, ranges.first_a, ranges.end_a, with_shapes);
  uint64_t *keys_b = keys_of(&self->b, ranges.first_b, ranges.end_b, with_shapes);
  uint32_t *match = td_try_alloc(n_a, sizeof *match);
  td_status status = keys_a && keys_b && match ? td_sequence_match(keys_a, n_a, keys_b, n_b, match)
                                               : TD_OUT_OF_MEMORY;
  for (uint32_t i = 0; status == TD_OK && i < n_a; i++)
    if (match[i] != UINT32_MAX) pair(self, ranges.first_a + i, ranges.first_b + match[i]);
  free(keys_a);
  free(keys_b);
  free(match);
  return status;
}

/* Between two pairs, nodes of the same name may be the same in another shape: another batch, say.
 */
static td_status
pair_gaps(pairing *self, ranges all) {
  ranges gap = {all.first_a, all.first_a, all.first_b, all.first_b};
  td_status status = TD_OK;
  for (; gap.end_a <= all.end_a && status == TD_OK; gap.end_a++) {
    bool at_end = gap.end_a == all.end_a;
    if (!at_end && is_free(&self->a, gap.end_a)) continue;
    gap.end_b = at_end ? all.end_b : partner_place(self, gap.end_a);
    status = pair_common(self, gap, false);
    gap.first_a = gap.end_a + 1;
    gap.first_b = gap.end_b + 1;
  }
  return status;
}

/* By name and shape, and then by name alone. */
static td_status
pair_range(pairing *self, ranges all) {
  bool has_shapes = self->a.visits->has_shapes && self->b.visits->has_shapes;
  td_status status = pair_common(self, all, has_shapes);
  return status == TD_OK && has_shapes ? pair_gaps(self, all) : status;
}

static int
compare_targets(const void *a, const void *b) {
  const target *left = a, *right = b;
  if (left->output_and_input != right->output_and_input)
    return left->output_and_input < right->output_and_input ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

static uint64_t
output_and_input(const td_catalog_edge *edge) {
  return (uint64_t)edge->output_nr << 32 | edge->input_nr;
}

static void
list_targets(pairing *self, uint32_t place_b) {
  td_pass_side *b = &self->b;
  self->n_targets = 0;
  td_inside_edges_begin(&b->edges, &b->inside, td_pass_side_node(b, place_b));
  for (const td_catalog_edge *edge; (edge = td_inside_edges_next(&b->edges));) {
    TD_GROW(self->targets, self->n_targets, self->targets_capacity);
    self->targets[self->n_targets] =
        (target){output_and_input(edge), self->n_targets, *td_pass_side_target(b, edge)};
    self->n_targets++;
  }
  if (self->n_targets > 1)
    qsort(self->targets, self->n_targets, sizeof *self->targets, compare_targets);
}

/* The place that the first such edge of b leads to, or TD_NONE. */
static uint32_t
find_target(const pairing *self, const td_catalog_edge *edge) {
  uint64_t wanted = output_and_input(edge);
  uint32_t at;
  TD_BISECT(at, 0, self->n_targets, self->targets[at].output_and_input < wanted);
  bool found = at < self->n_targets && self->targets[at].output_and_input == wanted;
  return found ? self->targets[at].place : TD_NONE;
}

static void
follow_edges(pairing *self, uint32_t place_a) {
  list_targets(self, partner_place(self, place_a));
  td_inside_edges_begin(&self->a.edges, &self->a.inside, td_pass_side_node(&self->a, place_a));
  for (const td_catalog_edge *edge; (edge = td_inside_edges_next(&self->a.edges));) {
    uint32_t to_a = *td_pass_side_target(&self->a, edge), to_b = find_target(self, edge);
    if (to_b != TD_NONE && is_free(&self->a, to_a) && is_free(&self->b, to_b) &&
        self->a.names[to_a] == self->b.names[to_b])
      pair(self, to_a, to_b);
  }
}

/* What ran, in the order in which it ran: a pair's own key for its nodes, the name for a leaf that
 * has no partner yet. */
static uint64_t *
keys_of_run(const td_pass_side *side, const uint32_t *partners_a) {
  uint64_t *keys = td_try_alloc(side->task->n, sizeof *keys);
  for (uint32_t i = 0; keys && i < side->task->n; i++) {
    uint32_t visit = side->task->first + i, partner = side->partners[visit];
    uint32_t of_a = partner == TD_NONE || side->partners == partners_a ? visit : partner;
    uint64_t name = side->visits->likeness.operations[side->visits->visits[visit].row];
    keys[i] = partner == TD_NONE ? name : td_hash_bytes(TD_HASH_SEED, &of_a, sizeof of_a);
  }
  return keys;
}

static td_status
pair_leaves_as_run(pairing *self) {
  td_pass_side *a = &self->a, *b = &self->b;
  uint64_t *keys_a = keys_of_run(a, a->partners), *keys_b = keys_of_run(b, a->partners);
  uint32_t *match = td_try_alloc(a->task->n, sizeof *match);
  td_status status = TD_OUT_OF_MEMORY;
  if (keys_a && keys_b && match)
    status = td_sequence_match(keys_a, a->task->n, keys_b, b->task->n, match);
  for (uint32_t i = 0; status == TD_OK && i < a->task->n; i++) {
    uint32_t visit_a = a->task->first + i, visit_b = b->task->first + match[i];
    if (match[i] == UINT32_MAX || a->partners[visit_a] != TD_NONE ||
        !td_pass_side_is_leaf(a, visit_a))
      continue;
    a->partners[visit_a] = visit_b;
    b->partners[visit_b] = visit_a;
  }
  free(keys_a);
  free(keys_b);
  free(match);
  return status;
}

/* Leaves are paired by what leads to them; in the order of the pass if a tape lacks edges. */
static td_status
pair_by_likeness(pairing *self) {
  td_pass_side *a = &self->a, *b = &self->b;
  td_status status = pair_range(self, (ranges){0, a->n_inner, 0, b->n_inner});
  while (status == TD_OK && self->has_edges && self->n_stack)
    follow_edges(self, self->stack[--self->n_stack]);
  return status != TD_OK || self->has_edges ? status : pair_leaves_as_run(self);
}

static td_status
pair_all(pairing *self) {
  self->stack = td_try_alloc(self->a.n, sizeof *self->stack);
  if (!self->stack) return TD_OUT_OF_MEMORY;
  if (!are_equal(self)) return pair_by_likeness(self);
  for (uint32_t place = 0; place < self->a.n; place++)
    pair(self, place, place);
  return TD_OK;
}

td_status
td_pairing_find(const td_visits *a, const td_visit_task *task_a, const td_visits *b,
                const td_visit_task *task_b, uint32_t *partners_a, uint32_t *partners_b,
                uint32_t *places_a, uint32_t *places_b) {
  pairing self = {.has_edges = a->has_edges && b->has_edges};
  bool by_number = td_pass_side_has_numbers(a, task_a) && td_pass_side_has_numbers(b, task_b);
  td_status status = td_pass_side_init(&self.a, a, task_a, partners_a, places_a, by_number);
  td_status other = td_pass_side_init(&self.b, b, task_b, partners_b, places_b, by_number);
  if (status == TD_OK) status = other;
  if (status == TD_OK) status = pair_all(&self);
  free(self.stack);
  free(self.targets);
  td_pass_side_fini(&self.a);
  td_pass_side_fini(&self.b);
  return status;
}
