/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/folding.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "ui/geometry/knots.h"

#include <stdbool.h>
#include <string.h>

/* The outermost closed group around a group, or 0. */
static uint32_t
closed_around(const td_fold_tree *tree, const uint8_t *open, uint32_t group) {
  uint32_t found = 0;
  for (; group; group = tree->groups[group].parent)
    if (!open[group]) found = group;
  return tree->groups[found].n_nodes > 1 ? found : 0;
}

/* For each node its closed group, or n_groups + itself. */
static uint32_t *
classify(const td_fold_graph *graph, const td_fold_tree *tree, const uint8_t *open) {
  uint32_t *closed = TD_NEW_N(uint32_t, tree->n_groups);
  uint32_t *classes = TD_NEW_N(uint32_t, graph->n_nodes);
  for (uint32_t g = 1; g < tree->n_groups; g++)
    closed[g] = closed_around(tree, open, g);
  for (uint32_t v = 0; v < graph->n_nodes; v++) {
    uint32_t group = closed[tree->group_of[v]];
    classes[v] = group ? group : tree->n_groups + v;
  }
  free(closed);
  return classes;
}

static uint64_t
pair(uint32_t high, uint32_t low) {
  return (uint64_t)high << 32 | low;
}

/* An item for each pair of class and rank. */
static void
make_items(td_folding *self, const td_fold_graph *graph, const td_fold_tree *tree,
           const uint32_t *classes, const uint32_t *ranks) {
  td_number_map known = {0};
  uint32_t capacity = 0;
  for (uint32_t v = 0; v < graph->n_nodes; v++) {
    uint64_t *item = td_number_map_put(&known, pair(classes[v], ranks[v]));
    if (!*item) {
      TD_GROW(self->items, self->n_items, capacity);
      uint32_t group = classes[v] < tree->n_groups ? classes[v] : 0;
      self->items[self->n_items] = (td_fold_item){.group = group, .part = 1, .n_parts = 1};
      *item = ++self->n_items;
    }
    self->item_of[v] = (uint32_t)*item - 1;
    self->items[*item - 1].n_members++;
  }
  td_number_map_fini(&known);
}

static void
list_members(td_folding *self, uint32_t n_nodes) {
  uint32_t *next = TD_NEW_N(uint32_t, self->n_items), at = 0;
  for (uint32_t i = 0; i < self->n_items; i++) {
    self->items[i].first_member = next[i] = at;
    at += self->items[i].n_members;
  }
  for (uint32_t v = 0; v < n_nodes; v++)
    self->members[next[self->item_of[v]]++] = v;
  free(next);
}

typedef struct ranked {
  uint32_t group, rank, item;
} ranked;

static int
compare_ranked(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Parts of a group count in the order in which gradients reach them. */
static void
number_parts(td_folding *self, const uint32_t *ranks) {
  ranked *all = TD_NEW_N(ranked, self->n_items);
  uint32_t n = 0, end;
  for (uint32_t i = 0; i < self->n_items; i++)
    if (self->items[i].group)
      all[n++] =
          (ranked){self->items[i].group, ranks[self->members[self->items[i].first_member]], i};
  qsort(all, n, sizeof *all, compare_ranked);
  for (uint32_t i = 0; i < n; i = end) {
    for (end = i; end < n && all[end].group == all[i].group;)
      end++;
    for (uint32_t k = i; k < end; k++) {
      self->items[all[k].item].part = k - i + 1;
      self->items[all[k].item].n_parts = end - i;
    }
  }
  free(all);
}

static void
forget_single(td_folding *self) {
  for (uint32_t i = 0; i < self->n_items; i++) {
    td_fold_item *item = &self->items[i];
    if (item->n_members == 1) item->group = 0;
    self->n_blocks += item->group != 0;
  }
}

static bool
is_needed(const td_folding *self, td_number_map *known, uint32_t from, uint32_t to) {
  bool blocks = self->items[from].group || self->items[to].group;
  if (!blocks) return true;
  if (from == to) return false;
  uint64_t *seen = td_number_map_put(known, pair(from, to));
  return (*seen)++ == 0;
}

static void
make_edges(td_folding *self, const td_fold_graph *graph) {
  td_number_map known = {0};
  self->from = TD_NEW_N(uint32_t, graph->n_edges);
  self->to = TD_NEW_N(uint32_t, graph->n_edges);
  self->edge = TD_NEW_N(uint32_t, graph->n_edges);
  for (uint32_t e = 0; e < graph->n_edges; e++) {
    uint32_t from = self->item_of[graph->from[e]], to = self->item_of[graph->to[e]];
    if (!is_needed(self, &known, from, to)) continue;
    self->from[self->n_edges] = from;
    self->to[self->n_edges] = to;
    self->edge[self->n_edges++] = e;
  }
  td_number_map_fini(&known);
}

td_folding *
td_folding_new(const td_fold_graph *graph, const td_fold_tree *tree, const uint8_t *open) {
  td_folding *self = TD_NEW(td_folding);
  uint32_t *classes = classify(graph, tree, open);
  td_knot_graph edges = {graph->n_nodes, graph->n_edges, tree->n_groups + graph->n_nodes,
                         graph->from,    graph->to,      classes};
  uint32_t *ranks = td_knots_rank(&edges);
  self->item_of = TD_NEW_N(uint32_t, graph->n_nodes);
  self->members = TD_NEW_N(uint32_t, graph->n_nodes);
  make_items(self, graph, tree, classes, ranks);
  list_members(self, graph->n_nodes);
  number_parts(self, ranks);
  forget_single(self);
  make_edges(self, graph);
  free(classes);
  free(ranks);
  return self;
}

void
td_folding_free(td_folding *self) {
  if (!self) return;
  void *owned[] = {self->items, self->item_of, self->members, self->from, self->to, self->edge};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
  free(self);
}
