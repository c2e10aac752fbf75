/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/reach.h"

#include "engine/base/alloc.h"

/* For each node the nodes at the other ends of its edges, one after the other. */
typedef struct sides {
  uint32_t *first; /* (owned) [n_nodes + 1] */
  uint32_t *other; /* (owned) [n_edges] */
} sides;

static sides
sort_edges(const td_reach_graph *graph, const uint32_t *near, const uint32_t *far) {
  sides self = {TD_NEW_N(uint32_t, graph->n_nodes + 2), TD_NEW_N(uint32_t, graph->n_edges)};
  for (uint32_t i = 0; i < graph->n_edges; i++)
    self.first[near[i] + 2]++;
  for (uint32_t i = 2; i < graph->n_nodes + 2; i++)
    self.first[i] += self.first[i - 1];
  for (uint32_t i = 0; i < graph->n_edges; i++)
    self.other[self.first[near[i] + 1]++] = far[i];
  return self;
}

static void
sides_fini(sides *self) {
  free(self->first);
  free(self->other);
}

/* The nodes found so far, in the order of their distance, and that distance. */
typedef struct walk {
  uint32_t *found;    /* (owned) [n] */
  uint32_t *distance; /* (owned) [n_nodes] 1 + edges, or 0: not found */
  uint32_t n;
} walk;

static walk
walk_begin(const td_reach_graph *graph, uint32_t node) {
  walk self = {TD_NEW_N(uint32_t, graph->n_nodes), TD_NEW_N(uint32_t, graph->n_nodes), 1};
  self.found[0] = node;
  self.distance[node] = 1;
  return self;
}

static void
walk_fini(walk *self) {
  free(self->found);
  free(self->distance);
}

static void
walk_from(walk *self, uint32_t node, const sides *sides) {
  for (uint32_t k = sides->first[node]; k < sides->first[node + 1]; k++) {
    uint32_t other = sides->other[k];
    if (self->distance[other]) continue;
    self->distance[other] = self->distance[node] + 1;
    self->found[self->n++] = other;
  }
}

/* `kept[i]` tells whether node i is one of those returned. */
static uint32_t *
list_kept(const uint8_t *kept, uint32_t n_nodes, uint32_t n_kept) {
  uint32_t *nodes = TD_NEW_N(uint32_t, n_kept), n = 0;
  for (uint32_t i = 0; i < n_nodes; i++)
    if (kept[i]) nodes[n++] = i;
  return nodes;
}

uint32_t *
td_reach_neighbours(const td_reach_graph *graph, uint32_t node, uint32_t distance, uint32_t most,
                    uint32_t *n, uint32_t *n_all) {
  sides out = sort_edges(graph, graph->from, graph->to);
  sides in = sort_edges(graph, graph->to, graph->from);
  walk walk = walk_begin(graph, node);
  uint8_t *kept = TD_NEW_N(uint8_t, graph->n_nodes);
  for (uint32_t at = 0; at < walk.n && walk.distance[walk.found[at]] <= distance; at++) {
    walk_from(&walk, walk.found[at], &out);
    walk_from(&walk, walk.found[at], &in);
  }
  *n_all = walk.n;
  *n = TD_MIN(walk.n, most);
  for (uint32_t i = 0; i < *n; i++)
    kept[walk.found[i]] = 1;
  uint32_t *nodes = list_kept(kept, graph->n_nodes, *n);
  walk_fini(&walk);
  sides_fini(&out);
  sides_fini(&in);
  free(kept);
  return nodes;
}

static walk
walk_all(const td_reach_graph *graph, uint32_t node, const sides *sides) {
  walk walk = walk_begin(graph, node);
  for (uint32_t at = 0; at < walk.n; at++)
    walk_from(&walk, walk.found[at], sides);
  return walk;
}

/* What a node leads to, and what leads to the other node: the paths have what is both. */
static uint32_t *
find_between(const td_reach_graph *graph, uint32_t from, uint32_t to, const sides *out,
             const sides *in, uint32_t *n) {
  walk ahead = walk_all(graph, from, out), behind = walk_all(graph, to, in);
  uint8_t *kept = TD_NEW_N(uint8_t, graph->n_nodes);
  *n = 0;
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    kept[i] = ahead.distance[i] && behind.distance[i];
    *n += kept[i];
  }
  uint32_t *nodes = list_kept(kept, graph->n_nodes, *n);
  walk_fini(&ahead);
  walk_fini(&behind);
  free(kept);
  return nodes;
}

uint32_t *
td_reach_paths(const td_reach_graph *graph, uint32_t from, uint32_t to, uint32_t *n) {
  sides out = sort_edges(graph, graph->from, graph->to);
  sides in = sort_edges(graph, graph->to, graph->from);
  uint32_t *nodes = find_between(graph, from, to, &out, &in, n);
  if (*n == 0) {
    free(nodes);
    nodes = find_between(graph, to, from, &out, &in, n);
  }
  sides_fini(&out);
  sides_fini(&in);
  return nodes;
}
