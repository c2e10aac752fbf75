/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Neighbours and paths of random graphs, compared with tables of all distances. */
#include "ui/geometry/reach.h"

#include <glib.h>

enum { MOST_NODES = 24, FAR = 1000 };

typedef struct RandomGraph {
  td_reach_graph graph;
  uint32_t from[200], to[200];
  uint32_t either[MOST_NODES][MOST_NODES]; /* edges between two nodes in any direction, or FAR */
  uint32_t along[MOST_NODES][MOST_NODES];  /* edges from one to the other, or FAR */
} RandomGraph;

static void
close_table(uint32_t table[MOST_NODES][MOST_NODES], uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = 0; j < n; j++)
        table[i][j] = MIN(table[i][j], table[i][k] + table[k][j]);
}

/* Some have cycles, edges to the node itself, and several edges between the same nodes. */
static void
make_graph(RandomGraph *self, GRand *random) {
  gboolean cycles = g_rand_boolean(random);
  uint32_t n = (uint32_t)g_rand_int_range(random, 1, MOST_NODES + 1);
  self->graph = (td_reach_graph){n, (uint32_t)g_rand_int_range(random, 0, 2 * (int)n + 1),
                                 self->from, self->to};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      self->either[i][j] = self->along[i][j] = i == j ? 0 : FAR;
  for (uint32_t i = 0; i < self->graph.n_edges; i++) {
    uint32_t a = (uint32_t)g_rand_int_range(random, 0, (int)n);
    uint32_t b = (uint32_t)g_rand_int_range(random, 0, (int)n);
    self->from[i] = cycles ? a : MIN(a, b);
    self->to[i] = cycles ? b : MAX(a, b);
    if (a == b) continue;
    self->along[self->from[i]][self->to[i]] = 1;
    self->either[a][b] = self->either[b][a] = 1;
  }
  close_table(self->either, n);
  close_table(self->along, n);
}

static gboolean
has(const uint32_t *nodes, uint32_t n, uint32_t node) {
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i] == node) return TRUE;
  return FALSE;
}

static void
assert_rising(const uint32_t *nodes, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    g_assert_cmpuint(nodes[i - 1], <, nodes[i]);
}

static void
check_neighbours(const RandomGraph *self, uint32_t node, uint32_t distance, uint32_t most) {
  uint32_t n, n_all, n_near = 0, furthest = 0, nearest_left_out = FAR;
  uint32_t *nodes = td_reach_neighbours(&self->graph, node, distance, most, &n, &n_all);
  for (uint32_t i = 0; i < self->graph.n_nodes; i++) {
    uint32_t away = self->either[node][i];
    n_near += away <= distance;
    if (has(nodes, n, i)) {
      g_assert_cmpuint(away, <=, distance);
      furthest = MAX(furthest, away);
    } else if (away <= distance) {
      nearest_left_out = MIN(nearest_left_out, away);
    }
  }
  g_assert_cmpuint(n_all, ==, n_near);
  g_assert_cmpuint(n, ==, MIN(n_near, most));
  g_assert_cmpuint(furthest, <=, nearest_left_out);
  g_assert_true(has(nodes, n, node));
  assert_rising(nodes, n);
  free(nodes);
}

static void
test_neighbours(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(17);
  RandomGraph self;
  for (int round = 0; round < 3000; round++) {
    make_graph(&self, random);
    uint32_t node = (uint32_t)g_rand_int_range(random, 0, (int)self.graph.n_nodes);
    uint32_t distance = (uint32_t)g_rand_int_range(random, 0, 6);
    check_neighbours(&self, node, distance, 500);
    check_neighbours(&self, node, distance, (uint32_t)g_rand_int_range(random, 1, 8));
  }
}

static void
check_paths(const RandomGraph *self, uint32_t from, uint32_t to) {
  uint32_t n, n_between = 0;
  gboolean back = self->along[from][to] >= FAR;
  uint32_t first = back ? to : from, last = back ? from : to;
  uint32_t *nodes = td_reach_paths(&self->graph, from, to, &n);
  for (uint32_t i = 0; i < self->graph.n_nodes; i++) {
    gboolean between = self->along[first][i] < FAR && self->along[i][last] < FAR;
    g_assert_cmpint(has(nodes, n, i), ==, between);
    n_between += between;
  }
  g_assert_cmpuint(n, ==, n_between);
  assert_rising(nodes, n);
  free(nodes);
}

static void
test_paths(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(23);
  RandomGraph self;
  for (int round = 0; round < 3000; round++) {
    make_graph(&self, random);
    int n = (int)self.graph.n_nodes;
    check_paths(&self, (uint32_t)g_rand_int_range(random, 0, n),
                (uint32_t)g_rand_int_range(random, 0, n));
  }
}

/* A chain of a million nodes needs no stack and no time. */
static void
test_long_chain(void) {
  uint32_t n_nodes = 1000000, n, n_all;
  g_autofree uint32_t *from = g_new(uint32_t, n_nodes), *to = g_new(uint32_t, n_nodes);
  for (uint32_t i = 0; i + 1 < n_nodes; i++) {
    from[i] = i;
    to[i] = i + 1;
  }
  td_reach_graph graph = {n_nodes, n_nodes - 1, from, to};
  free(td_reach_paths(&graph, n_nodes - 1, 0, &n));
  g_assert_cmpuint(n, ==, n_nodes);
  free(td_reach_neighbours(&graph, n_nodes / 2, n_nodes, 500, &n, &n_all));
  g_assert_cmpuint(n, ==, 500);
  g_assert_cmpuint(n_all, ==, n_nodes);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/reach/neighbours", test_neighbours);
  g_test_add_func("/ui/reach/paths", test_paths);
  g_test_add_func("/ui/reach/long-chain", test_long_chain);
  return g_test_run();
}
