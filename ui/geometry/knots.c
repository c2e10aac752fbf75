/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The knots are the strongly connected components of the classes, found by Tarjan's algorithm with
 * a stack of its own. */
#include "ui/geometry/knots.h"

#include "engine/base/alloc.h"

/* Where edges lead to, by where they begin. */
typedef struct successors {
  uint32_t *first; /* (owned) [n + 1] */
  uint32_t *to;    /* (owned) */
} successors;

static uint32_t
end_of(const uint32_t *class_of, uint32_t node) {
  return class_of ? class_of[node] : node;
}

static successors
sort_edges(const td_knot_graph *graph, uint32_t n, const uint32_t *class_of) {
  successors self = {TD_NEW_N(uint32_t, (size_t)n + 2), TD_NEW_N(uint32_t, graph->n_edges)};
  for (uint32_t e = 0; e < graph->n_edges; e++)
    self.first[end_of(class_of, graph->from[e]) + 2]++;
  for (uint32_t i = 2; i < n + 2; i++)
    self.first[i] += self.first[i - 1];
  for (uint32_t e = 0; e < graph->n_edges; e++)
    self.to[self.first[end_of(class_of, graph->from[e]) + 1]++] = end_of(class_of, graph->to[e]);
  return self;
}

static void
successors_fini(successors *self) {
  free(self->first);
  free(self->to);
}

typedef struct search {
  successors out;
  uint32_t *number, *low; /* (owned, as all below) from 1; 0: not yet seen */
  uint32_t *next;         /* the next edge to look at */
  uint32_t *path, n_path; /* from the first class to that in hand */
  uint32_t *open, n_open; /* seen, but in no knot yet */
  uint32_t *knot;         /* from 1; 0: none yet */
  uint32_t n_seen, n_knots;
} search;

static void
enter(search *self, uint32_t class) {
  self->number[class] = self->low[class] = ++self->n_seen;
  self->next[class] = self->out.first[class];
  self->path[self->n_path++] = self->open[self->n_open++] = class;
}

static void
leave(search *self, uint32_t class) {
  self->n_path--;
  if (self->n_path) {
    uint32_t before = self->path[self->n_path - 1];
    self->low[before] = TD_MIN(self->low[before], self->low[class]);
  }
  if (self->low[class] != self->number[class]) return;
  self->n_knots++;
  do
    self->knot[self->open[--self->n_open]] = self->n_knots;
  while (self->open[self->n_open] != class);
}

static void
search_from(search *self, uint32_t first) {
  enter(self, first);
  while (self->n_path) {
    uint32_t class = self->path[self->n_path - 1];
    if (self->next[class] == self->out.first[class + 1]) {
      leave(self, class);
      continue;
    }
    uint32_t to = self->out.to[self->next[class]++];
    if (!self->number[to])
      enter(self, to);
    else if (!self->knot[to])
      self->low[class] = TD_MIN(self->low[class], self->number[to]);
  }
}

/* The caller frees. */
static uint32_t *
find_knots(const td_knot_graph *graph) {
  uint32_t n = graph->n_classes;
  search self = {.out = sort_edges(graph, n, graph->class_of)};
  uint32_t **arrays[] = {&self.number, &self.low, &self.next, &self.path, &self.open, &self.knot};
  for (size_t i = 0; i < TD_N_ELEMENTS(arrays); i++)
    *arrays[i] = TD_NEW_N(uint32_t, n);
  for (uint32_t class = 0; class < n; class ++)
    if (!self.number[class]) search_from(&self, class);
  for (size_t i = 0; i + 1 < TD_N_ELEMENTS(arrays); i++)
    free(*arrays[i]);
  successors_fini(&self.out);
  return self.knot;
}

static void
rank_next(const td_knot_graph *graph, const uint32_t *knots, uint32_t *ranks, uint32_t from,
          uint32_t to) {
  uint32_t here = graph->class_of[from], there = graph->class_of[to];
  if (knots[here] != knots[there]) return;
  ranks[to] = TD_MAX(ranks[to], ranks[from] + (here != there));
}

uint32_t *
td_knots_rank(const td_knot_graph *graph) {
  uint32_t n = graph->n_nodes, n_ready = 0;
  uint32_t *knots = find_knots(graph), *ranks = TD_NEW_N(uint32_t, n);
  uint32_t *n_left = TD_NEW_N(uint32_t, n), *ready = TD_NEW_N(uint32_t, n);
  successors out = sort_edges(graph, n, NULL);
  for (uint32_t e = 0; e < graph->n_edges; e++)
    n_left[graph->to[e]]++;
  for (uint32_t v = 0; v < n; v++)
    if (!n_left[v]) ready[n_ready++] = v;
  for (uint32_t at = 0; at < n_ready; at++)
    for (uint32_t k = out.first[ready[at]]; k < out.first[ready[at] + 1]; k++) {
      rank_next(graph, knots, ranks, ready[at], out.to[k]);
      if (--n_left[out.to[k]] == 0) ready[n_ready++] = out.to[k];
    }
  successors_fini(&out);
  free(n_left);
  free(ready);
  free(knots);
  return ranks;
}
