/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/geometry/levels.h"

#include <string.h>

/* The edges that take part in layering, and the order in which their ends were reached. */
typedef struct layering {
  td_levels *levels;
  td_adjacency out, in;
  uint32_t *queue; /* [n] topological order */
  uint32_t n_queued;
  bool cyclic;
} layering;

td_adjacency
td_adjacency_build(uint32_t n, uint32_t m, const uint32_t *from, const uint32_t *to) {
  td_adjacency adjacency = {TD_NEW_N(uint32_t, (size_t)n + 2), TD_NEW_N(uint32_t, m)};
  uint32_t *first = adjacency.first + 1;
  for (uint32_t i = 0; i < m; i++)
    first[from[i] + 1]++;
  for (uint32_t i = 0; i < n; i++)
    first[i + 1] += first[i];
  for (uint32_t i = 0; i < m; i++)
    adjacency.targets[first[from[i]]++] = to[i];
  return adjacency;
}

void
td_adjacency_fini(td_adjacency *adjacency) {
  free(adjacency->first);
  free(adjacency->targets);
}

/* A port ends edges and begins none. Its host is chosen once levels are known. */
static void
find_ports(td_levels *levels) {
  const td_layout_graph *graph = levels->graph;
  if (!graph->port) return;
  uint8_t *begins = TD_NEW_N(uint8_t, graph->n_nodes);
  for (uint32_t i = 0; i < graph->n_edges; i++)
    begins[graph->from[i]] = 1;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    uint32_t to = graph->to[i];
    if (graph->port[to] && !begins[to]) levels->host[to] = graph->from[i];
  }
  free(begins);
}

static void
collect_edges(layering *self) {
  td_levels *levels = self->levels;
  const td_layout_graph *graph = levels->graph;
  uint32_t *from = TD_NEW_N(uint32_t, graph->n_edges), *to = TD_NEW_N(uint32_t, graph->n_edges),
           n = 0;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    bool to_port = levels->host[graph->to[i]] != TD_LAYOUT_NONE;
    if (to_port || graph->from[i] == graph->to[i]) {
      levels->route[i] = to_port ? TD_ROUTE_PORT : TD_ROUTE_AROUND;
      continue;
    }
    from[n] = graph->from[i];
    to[n++] = graph->to[i];
  }
  self->out = td_adjacency_build(graph->n_nodes, n, from, to);
  self->in = td_adjacency_build(graph->n_nodes, n, to, from);
  free(from);
  free(to);
}

static void
visit(layering *self, uint32_t node, uint32_t *waiting, uint8_t *queued) {
  uint32_t *level = self->levels->level;
  for (uint32_t k = self->out.first[node]; k < self->out.first[node + 1]; k++) {
    uint32_t next = self->out.targets[k];
    if (queued[next]) continue;
    level[next] = TD_MAX(level[next], level[node] + 1);
    if (--waiting[next]) continue;
    queued[next] = 1;
    self->queue[self->n_queued++] = next;
  }
}

/* Longest path from the sources. Where a cycle leaves nodes waiting, the first of them goes on
 * regardless; its edges against the direction are led around later. */
static void
assign_longest_path(layering *self) {
  uint32_t n = self->levels->graph->n_nodes, n_sources = 0, n_visited = 0;
  uint32_t *waiting = TD_NEW_N(uint32_t, n);
  uint8_t *queued = TD_NEW_N(uint8_t, n);
  for (uint32_t i = 0; i < n; i++) {
    waiting[i] = td_degree(&self->in, i);
    queued[i] = self->levels->host[i] != TD_LAYOUT_NONE;
    if (waiting[i] || queued[i]) continue;
    queued[i] = 1;
    self->queue[n_sources++] = i;
  }
  self->n_queued = n_sources;
  for (uint32_t next = 0;;) {
    while (n_visited < self->n_queued)
      visit(self, self->queue[n_visited++], waiting, queued);
    while (next < n && queued[next])
      next++;
    if (next == n) break;
    self->cyclic = true;
    queued[next] = 1;
    self->queue[self->n_queued++] = next;
  }
  free(waiting);
  free(queued);
}

/* The highest level allowed from above and the lowest from below, exclusive. */
static void
allowed(const layering *self, uint32_t node, int64_t *above, int64_t *below) {
  const uint32_t *level = self->levels->level;
  *above = -1;
  *below = INT64_MAX;
  for (uint32_t k = self->in.first[node]; k < self->in.first[node + 1]; k++)
    *above = TD_MAX(*above, (int64_t)level[self->in.targets[k]]);
  for (uint32_t k = self->out.first[node]; k < self->out.first[node + 1]; k++)
    *below = TD_MIN(*below, (int64_t)level[self->out.targets[k]]);
}

static bool
balance_node(layering *self, uint32_t node) {
  uint32_t *level = self->levels->level;
  uint32_t n_in = td_degree(&self->in, node), n_out = td_degree(&self->out, node);
  if (n_out == 0 || n_out == n_in) return false;
  int64_t above, below;
  allowed(self, node, &above, &below);
  uint32_t better = (uint32_t)(n_out > n_in ? below - 1 : above + 1);
  bool moved = better != level[node];
  level[node] = better;
  return moved;
}

/* Nodes with room move towards the side where more edges become shorter. */
static void
balance(layering *self) {
  if (self->cyclic) return;
  for (int round = 0; round < 4; round++) {
    bool moved = false;
    for (uint32_t i = self->n_queued; i > 0; i--)
      moved |= balance_node(self, self->queue[i - 1]);
    for (uint32_t i = 0; i < self->n_queued; i++)
      moved |= balance_node(self, self->queue[i]);
    if (!moved) return;
  }
}

static void
find_trunk(layering *self) {
  td_levels *levels = self->levels;
  uint32_t n = levels->graph->n_nodes, root = TD_LAYOUT_NONE;
  uint32_t *height = TD_NEW_N(uint32_t, n);
  memset(levels->main_child, 0xff, n * sizeof *levels->main_child);
  for (uint32_t i = self->n_queued; i > 0; i--) {
    uint32_t node = self->queue[i - 1];
    for (uint32_t k = self->out.first[node]; k < self->out.first[node + 1]; k++) {
      uint32_t next = self->out.targets[k];
      if (levels->level[next] <= levels->level[node] || height[next] + 1 <= height[node]) continue;
      height[node] = height[next] + 1;
      levels->main_child[node] = next;
    }
    if (root == TD_LAYOUT_NONE || height[node] >= height[root]) root = node;
  }
  for (; root != TD_LAYOUT_NONE; root = levels->main_child[root])
    levels->trunk[root] = 1;
  free(height);
}

/* A port goes beside the user that is furthest down, the last to send it a gradient. */
static void
choose_hosts(td_levels *levels) {
  const td_layout_graph *graph = levels->graph;
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    if (levels->route[i] != TD_ROUTE_PORT) continue;
    uint32_t *host = &levels->host[graph->to[i]];
    if (levels->level[graph->from[i]] > levels->level[*host]) *host = graph->from[i];
  }
  for (uint32_t i = 0; i < graph->n_edges; i++) {
    if (levels->route[i] != TD_ROUTE_PORT) continue;
    uint32_t to = graph->to[i];
    levels->level[to] = levels->level[levels->host[to]];
    if (levels->host[to] != graph->from[i]) levels->route[i] = TD_ROUTE_AROUND;
  }
}

void
td_levels_assign(td_levels *levels) {
  layering self = {.levels = levels, .queue = TD_NEW_N(uint32_t, levels->graph->n_nodes)};
  find_ports(levels);
  collect_edges(&self);
  assign_longest_path(&self);
  balance(&self);
  find_trunk(&self);
  choose_hosts(levels);
  for (uint32_t i = 0; i < self.n_queued; i++)
    levels->n_levels = TD_MAX(levels->n_levels, levels->level[self.queue[i]] + 1);
  td_adjacency_fini(&self.out);
  td_adjacency_fini(&self.in);
  free(self.queue);
}
