/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/pass_side.h"

#include "engine/base/alloc.h"

typedef struct place_key {
  uint64_t sequence_nr;
  uint32_t visit;
} place_key;

static int
compare_keys(const void *a, const void *b) {
  const place_key *left = a, *right = b;
  if (left->sequence_nr != right->sequence_nr)
    return left->sequence_nr < right->sequence_nr ? -1 : 1;
  return (left->visit > right->visit) - (left->visit < right->visit);
}

static void
put(td_pass_side *side, uint32_t visit) {
  uint32_t *place = &side->places[side->visits->visits[visit].row];
  if (*place == TD_NONE) *place = side->n;
  side->order[side->n++] = visit;
}

/* Leaves all have the same sequence number: what leads to them first orders them. Until one is put,
 * its node's place is n + its number among the keys. */
static void
put_leaves(td_pass_side *side, const place_key *keys, uint32_t n) {
  uint32_t first = side->n_inner;
  for (uint32_t i = first; i < n; i++)
    side->places[side->visits->visits[keys[i].visit].row] = n + i;
  for (uint32_t place = 0; place < first && first < n; place++) {
    td_inside_edges_begin(&side->edges, &side->inside, td_pass_side_node(side, place));
    for (const td_catalog_edge *edge; (edge = td_inside_edges_next(&side->edges));) {
      uint32_t *target = td_pass_side_target(side, edge), mark = *target;
      if (mark < n) continue;
      *target = TD_NONE;
      put(side, keys[mark - n].visit);
    }
  }
  for (uint32_t i = first; i < n; i++) { /* a root that is a leaf; or a tape without edges */
    uint32_t *place = &side->places[side->visits->visits[keys[i].visit].row];
    bool is_put = *place < n && side->order[*place] == keys[i].visit;
    if (is_put) continue;
    if (*place >= n) *place = TD_NONE;
    put(side, keys[i].visit);
  }
}

static const td_catalog_node *
facts_of(const td_pass_side *side, uint32_t visit) {
  return &side->catalog->node_rows[side->visits->visits[visit].row];
}

bool
td_pass_side_is_leaf(const td_pass_side *side, uint32_t visit) {
  return facts_of(side, visit)->sequence_nr == UINT64_MAX;
}

bool
td_pass_side_has_numbers(const td_visits *visits, const td_visit_task *task) {
  const td_catalog_node *first = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; i < task->n; i++) {
    const td_catalog_node *facts = &visits->catalog->node_rows[visits->visits[task->first + i].row];
    if (facts->sequence_nr == UINT64_MAX) continue;
    if (!first) first = facts;
    if (facts->sequence_nr != first->sequence_nr) return true;
    n++;
  }
  return n < 2;
}

static td_status
order_forward(td_pass_side *side, bool by_number) {
  uint32_t n = side->task->n;
  place_key *keys = td_try_alloc(n, sizeof *keys);
  if (!keys) return TD_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t visit = side->task->first + i;
    uint64_t number = facts_of(side, visit)->sequence_nr;
    keys[i] = (place_key){by_number || td_pass_side_is_leaf(side, visit) ? number : 0, visit};
  }
  qsort(keys, n, sizeof *keys, compare_keys);
  while (side->n < n && keys[side->n].sequence_nr != UINT64_MAX)
    put(side, keys[side->n].visit);
  side->n_inner = side->n;
  put_leaves(side, keys, n);
  free(keys);
  return TD_OK;
}

static void
hash_nodes(td_pass_side *side) {
  for (uint32_t place = 0; place < side->n; place++) {
    side->names[place] = side->visits->likeness.operations[td_pass_side_row(side, place)];
    side->shapes[place] = side->visits->likeness.shapes[td_pass_side_row(side, place)];
  }
}

/* The places serve as marks, and are all TD_NONE again. */
static void
list_nodes(td_pass_side *side) {
  const td_visit *visits = side->visits->visits + side->task->first;
  uint32_t n = 0;
  for (uint32_t i = 0; i < side->task->n; i++) {
    if (side->places[visits[i].row] != TD_NONE) continue;
    side->places[visits[i].row] = 0;
    side->nodes[n++] = visits[i].node;
  }
  for (uint32_t i = 0; i < side->task->n; i++)
    side->places[visits[i].row] = TD_NONE;
  side->inside = (td_inside){side->catalog, side->nodes, side->places, n};
}

td_status
td_pass_side_init(td_pass_side *side, const td_visits *visits, const td_visit_task *task,
                  uint32_t *partners, uint32_t *places, bool by_number) {
  *side = (td_pass_side){.visits = visits,
                         .task = task,
                         .catalog = visits->catalog,
                         .order = td_try_alloc(task->n, sizeof *side->order),
                         .names = td_try_alloc(task->n, sizeof *side->names),
                         .shapes = td_try_alloc(task->n, sizeof *side->shapes),
                         .nodes = td_try_alloc(task->n, sizeof *side->nodes),
                         .partners = partners,
                         .places = places};
  for (uint32_t i = 0; i < task->n; i++)
    partners[task->first + i] = TD_NONE;
  if (!side->order || !side->names || !side->shapes || !side->nodes) return TD_OUT_OF_MEMORY;
  list_nodes(side);
  td_status status = order_forward(side, by_number);
  if (status == TD_OK) hash_nodes(side);
  return status;
}

void
td_pass_side_fini(td_pass_side *side) {
  for (uint32_t i = 0; i < side->task->n; i++)
    side->places[side->visits->visits[side->task->first + i].row] = TD_NONE;
  free(side->order);
  free(side->names);
  free(side->shapes);
  free(side->nodes);
  td_inside_edges_fini(&side->edges);
}
