/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Folded graphs: what they must keep of random graphs, and what blocks some graphs get. */
#include "ui/geometry/folding.h"

#include <glib.h>
#include <string.h>

enum { MOST_NODES = 60, MOST_EDGES = 200, ROUNDS = 3000, N_MANY = 100000, N_LAYERS = 5000 };

static const char *const paths[] = {"a",     "a.0",     "a.1",     "a.2",   "a.2.x", "a.0.x",
                                    "a.1.x", "b",       "b.c",     "b.c.d", "e.f",   "e.f.0",
                                    "e.f.1", "a.b.c.d", "e.f.1.y", "0",     "1",     "2"};

typedef struct Graph {
  td_fold_graph graph;
  uint32_t from[MOST_EDGES], to[MOST_EDGES], kind[MOST_NODES], module[MOST_NODES];
  td_fold_tree *tree;
  uint8_t open[1000];
} Graph;

static uint32_t
below(GRand *random, uint32_t n) {
  return (uint32_t)g_rand_int_range(random, 0, (int)n);
}

/* Without cycles: edges lead to greater nodes. */
static void
make_graph(Graph *self, GRand *random) {
  uint32_t n = 1 + below(random, MOST_NODES);
  self->graph = (td_fold_graph){n,        0,          G_N_ELEMENTS(paths), self->from,
                                self->to, self->kind, self->module,        paths};
  self->graph.n_edges = n > 1 ? below(random, MOST_EDGES) : 0;
  for (uint32_t e = 0; e < self->graph.n_edges; e++) {
    uint32_t a = below(random, n), b = below(random, n - 1);
    b += b >= a;
    self->from[e] = MIN(a, b);
    self->to[e] = MAX(a, b);
  }
  for (uint32_t v = 0; v < n; v++) {
    self->kind[v] = below(random, 2);
    self->module[v] = below(random, 4) ? 1 + below(random, G_N_ELEMENTS(paths)) : 0;
  }
  self->tree = td_fold_tree_new(&self->graph);
  g_assert_cmpuint(self->tree->n_groups, <, sizeof self->open);
  for (uint32_t g = 0; g < self->tree->n_groups; g++)
    self->open[g] = (uint8_t)g_rand_boolean(random);
}

static gboolean
is_in(const td_fold_tree *tree, uint32_t group, uint32_t outer) {
  for (; group && group != outer; group = tree->groups[group].parent)
    ;
  return group == outer;
}

static void
check_tree(const Graph *self) {
  const td_fold_tree *tree = self->tree;
  for (uint32_t g = 0; g < tree->n_groups; g++) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < self->graph.n_nodes; v++)
      n += is_in(tree, tree->group_of[v], g);
    if (tree->groups[g].n_nodes) g_assert_cmpuint(tree->groups[g].n_nodes, ==, n);
    if (n) g_assert_cmpuint(tree->groups[g].n_nodes, ==, n);
    g_assert_cmpuint(tree->groups[tree->groups[g].parent].n_nodes, >=, tree->groups[g].n_nodes);
  }
}

/* Every node is in one item; a block has nodes of one closed group, and only of open ones around
 * it. */
static void
check_items(const Graph *self, const td_folding *folding) {
  uint32_t n_seen = 0, n_blocks = 0;
  for (uint32_t i = 0; i < folding->n_items; i++) {
    const td_fold_item *item = &folding->items[i];
    g_assert_cmpuint(item->n_members, >, 0);
    g_assert_cmpuint(item->part, <=, item->n_parts);
    if (!item->group) g_assert_cmpuint(item->n_members, ==, 1);
    if (item->group) g_assert_false(self->open[item->group]);
    for (uint32_t g = item->group; g && (g = self->tree->groups[g].parent);)
      g_assert_true(self->open[g]);
    for (uint32_t k = 0; k < item->n_members; k++) {
      uint32_t v = folding->members[item->first_member + k];
      g_assert_cmpuint(folding->item_of[v], ==, i);
      g_assert_true(is_in(self->tree, self->tree->group_of[v], item->group));
      n_seen++;
    }
    n_blocks += item->group != 0;
  }
  g_assert_cmpuint(n_seen, ==, self->graph.n_nodes);
  g_assert_cmpuint(n_blocks, ==, folding->n_blocks);
}

/* Two items have an edge if their nodes have one, and blocks have no doubles. */
static void
check_edges(const Graph *self, const td_folding *folding) {
  uint8_t here[MOST_NODES][MOST_NODES] = {0}, there[MOST_NODES][MOST_NODES] = {0};
  for (uint32_t k = 0; k < folding->n_edges; k++) {
    uint32_t a = folding->from[k], b = folding->to[k], e = folding->edge[k];
    g_assert_cmpuint(folding->item_of[self->graph.from[e]], ==, a);
    g_assert_cmpuint(folding->item_of[self->graph.to[e]], ==, b);
    g_assert_cmpuint(a, !=, b);
    if (folding->items[a].group || folding->items[b].group) g_assert_false(here[a][b]);
    here[a][b] = 1;
  }
  for (uint32_t e = 0; e < self->graph.n_edges; e++)
    there[folding->item_of[self->graph.from[e]]][folding->item_of[self->graph.to[e]]] = 1;
  for (uint32_t i = 0; i < folding->n_items; i++)
    for (uint32_t k = 0; k < folding->n_items; k++)
      g_assert_cmpuint(here[i][k], ==, i != k && there[i][k]);
}

static void
check_no_cycle(const td_folding *folding) {
  g_autofree uint32_t *n_left = g_new0(uint32_t, folding->n_items);
  g_autofree uint32_t *ready = g_new0(uint32_t, folding->n_items);
  uint32_t n_ready = 0;
  for (uint32_t e = 0; e < folding->n_edges; e++)
    n_left[folding->to[e]]++;
  for (uint32_t i = 0; i < folding->n_items; i++)
    if (!n_left[i]) ready[n_ready++] = i;
  for (uint32_t at = 0; at < n_ready; at++)
    for (uint32_t e = 0; e < folding->n_edges; e++)
      if (folding->from[e] == ready[at] && --n_left[folding->to[e]] == 0)
        ready[n_ready++] = folding->to[e];
  g_assert_cmpuint(n_ready, ==, folding->n_items);
}

/* A group that is not cut is one block with all its nodes. */
static void
check_parts(const Graph *self, const td_folding *folding) {
  for (uint32_t i = 0; i < folding->n_items; i++) {
    const td_fold_item *item = &folding->items[i];
    uint32_t n = 0;
    for (uint32_t k = 0; k < folding->n_items && item->group; k++)
      n += folding->items[k].group == item->group;
    if (item->group) g_assert_cmpuint(n, <=, item->n_parts);
    if (item->group && item->n_parts == 1)
      g_assert_cmpuint(item->n_members, ==, self->tree->groups[item->group].n_nodes);
  }
}

static void
test_random(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(3);
  uint32_t n_blocks = 0, n_parts = 0, n_runs = 0;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    Graph self;
    make_graph(&self, random);
    check_tree(&self);
    td_folding *folding = td_folding_new(&self.graph, self.tree, self.open);
    check_items(&self, folding);
    check_edges(&self, folding);
    check_no_cycle(folding);
    check_parts(&self, folding);
    n_blocks += folding->n_blocks;
    for (uint32_t k = 0; k < folding->n_items; k++) {
      n_parts += folding->items[k].n_parts > 1;
      n_runs += self.tree->groups[folding->items[k].group].n_blocks > 1;
    }
    td_folding_free(folding);
    td_fold_tree_free(self.tree);
  }
  g_assert_cmpuint(n_blocks, >, ROUNDS);
  g_assert_cmpuint(n_parts, >, ROUNDS / 4);
  g_assert_cmpuint(n_runs, >, 50);
}

/* With all groups open, the folded graph is the graph. */
static void
test_open(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(4);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    Graph self;
    make_graph(&self, random);
    memset(self.open, 1, sizeof self.open);
    td_folding *folding = td_folding_new(&self.graph, self.tree, self.open);
    g_assert_cmpuint(folding->n_items, ==, self.graph.n_nodes);
    g_assert_cmpuint(folding->n_edges, ==, self.graph.n_edges);
    g_assert_cmpuint(folding->n_blocks, ==, 0);
    for (uint32_t v = 0; v < self.graph.n_nodes; v++)
      g_assert_cmpuint(folding->item_of[v], ==, v);
    for (uint32_t e = 0; e < self.graph.n_edges; e++) {
      g_assert_cmpuint(folding->from[e], ==, self.from[e]);
      g_assert_cmpuint(folding->to[e], ==, self.to[e]);
    }
    td_folding_free(folding);
    td_fold_tree_free(self.tree);
  }
}

/* A folded graph whose items have no modules cannot be folded further. */
static void
test_twice(void) {
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    Graph self;
    make_graph(&self, random);
    td_folding *once = td_folding_new(&self.graph, self.tree, self.open);
    g_autofree uint32_t *module = g_new0(uint32_t, once->n_items);
    td_fold_graph folded = {once->n_items, once->n_edges, 0,      once->from,
                            once->to,      self.kind,     module, NULL};
    td_fold_tree *tree = td_fold_tree_new(&folded);
    td_folding *twice = td_folding_new(&folded, tree, self.open);
    g_assert_cmpuint(twice->n_items, ==, once->n_items);
    g_assert_cmpmem(twice->from, twice->n_edges * sizeof *twice->from, once->from,
                    once->n_edges * sizeof *once->from);
    td_folding_free(twice);
    td_fold_tree_free(tree);
    td_folding_free(once);
    td_fold_tree_free(self.tree);
  }
}

/* The chain of a model: "in", layers of two nodes and a parameter each, "out". */
typedef struct Chain {
  td_fold_graph graph;
  uint32_t *from, *to, *kind, *module; /* (owned, as all below) */
  char **paths;
} Chain;

static void
add_edge(Chain *self, uint32_t from, uint32_t to) {
  self->from[self->graph.n_edges] = from;
  self->to[self->graph.n_edges++] = to;
}

static Chain
make_chain(uint32_t n_layers, uint32_t of_layer) {
  uint32_t n = n_layers * of_layer + 2;
  Chain self = {{n, 0, n_layers + 1}, g_new0(uint32_t, n), g_new0(uint32_t, n),
                g_new0(uint32_t, n),  g_new0(uint32_t, n), g_new0(char *, n_layers + 2)};
  for (uint32_t v = 0; v + 1 < n; v++)
    add_edge(&self, v, v + 1);
  for (uint32_t v = 1; v + 1 < n; v++) {
    self.module[v] = 1 + (v - 1) / of_layer;
    self.kind[v] = (v - 1) % of_layer;
  }
  for (uint32_t i = 0; i < n_layers; i++)
    self.paths[i] = g_strdup_printf("model.layers.%u", i);
  self.paths[n_layers] = g_strdup("model.embed");
  self.module[n - 1] = n_layers + 1;
  self.graph.from = self.from;
  self.graph.to = self.to;
  self.graph.kind = self.kind;
  self.graph.module = self.module;
  self.graph.paths = (const char *const *)self.paths;
  return self;
}

static void
chain_fini(Chain *self) {
  g_free(self->from);
  g_free(self->to);
  g_free(self->kind);
  g_free(self->module);
  g_strfreev(self->paths);
}

static uint32_t
find_group(const td_fold_tree *tree, const char *path) {
  for (uint32_t g = 1; g < tree->n_groups; g++)
    if (!strcmp(tree->groups[g].path, path) && tree->groups[g].n_nodes) return g;
  return 0;
}

/* Layers that look alike are a run; one that differs is none of it. */
static void
test_run(void) {
  Chain self = make_chain(40, 3);
  td_fold_tree *tree = td_fold_tree_new(&self.graph);
  uint32_t run = find_group(tree, "model.layers.0–39"), model = find_group(tree, "model");
  g_assert_cmpuint(run, >, 0);
  g_assert_cmpuint(tree->groups[run].n_blocks, ==, 40);
  g_assert_cmpuint(tree->groups[run].n_nodes, ==, 120);
  g_assert_cmpuint(tree->groups[run].parent, ==, model);
  g_assert_cmpuint(find_group(tree, "model.layers"), ==, 0);
  td_fold_tree_free(tree);
  self.kind[1 + 3 * 10] = 7;
  tree = td_fold_tree_new(&self.graph);
  g_assert_cmpuint(find_group(tree, "model.layers.0–9"), >, 0);
  g_assert_cmpuint(find_group(tree, "model.layers.11–39"), >, 0);
  g_assert_cmpuint(find_group(tree, "model.layers.10"), >, 0);
  g_autofree uint8_t *open = g_new0(uint8_t, tree->n_groups);
  open[model] = open[find_group(tree, "model.layers")] = 1;
  td_folding *folding = td_folding_new(&self.graph, tree, open);
  g_assert_cmpuint(folding->n_items, ==, 5);
  g_assert_cmpuint(folding->n_blocks, ==, 3);
  g_assert_cmpuint(folding->n_edges, ==, 4);
  td_folding_free(folding);
  td_fold_tree_free(tree);
  chain_fini(&self);
}

/* A cell between whose calls something else lies has a part for each call. */
static void
test_cell(void) {
  const char *const names[] = {"cell"};
  uint32_t from[20], to[20], kind[21] = {0}, module[21], n = 21;
  for (uint32_t v = 0; v < n; v++) {
    module[v] = v % 3 != 2;
    if (v) from[v - 1] = v - 1, to[v - 1] = v;
  }
  td_fold_graph graph = {n, n - 1, 1, from, to, kind, module, names};
  td_fold_tree *tree = td_fold_tree_new(&graph);
  const uint8_t closed[2] = {0};
  td_folding *folding = td_folding_new(&graph, tree, closed);
  g_assert_cmpuint(folding->n_items, ==, 14);
  for (uint32_t i = 0; i < 14; i += 2) {
    g_assert_cmpuint(folding->items[i].part, ==, i / 2 + 1);
    g_assert_cmpuint(folding->items[i].n_parts, ==, 7);
    g_assert_cmpuint(folding->items[i].n_members, ==, 2);
  }
  td_folding_free(folding);
  td_fold_tree_free(tree);
}

/* 100,000 nodes take well less than a second, however deep the chain is. */
static void
test_many(void) {
  Chain self = make_chain(N_LAYERS, N_MANY / N_LAYERS);
  gint64 begin = g_get_monotonic_time();
  td_fold_tree *tree = td_fold_tree_new(&self.graph);
  g_autofree uint8_t *open = g_new0(uint8_t, tree->n_groups);
  for (uint32_t g = 0; g < tree->n_groups; g++)
    open[g] = tree->groups[g].n_blocks > 1 || !strcmp(tree->groups[g].path, "model");
  td_folding *folding = td_folding_new(&self.graph, tree, open);
  g_test_message("%.1f ms", (double)(g_get_monotonic_time() - begin) / 1000);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 3000000);
  g_assert_cmpuint(folding->n_blocks, ==, N_LAYERS);
  g_assert_cmpuint(folding->n_items, ==, N_LAYERS + 2);
  td_folding_free(folding);
  td_fold_tree_free(tree);
  chain_fini(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/folding/random", test_random);
  g_test_add_func("/ui/folding/open", test_open);
  g_test_add_func("/ui/folding/twice", test_twice);
  g_test_add_func("/ui/folding/run", test_run);
  g_test_add_func("/ui/folding/cell", test_cell);
  g_test_add_func("/ui/folding/many", test_many);
  return g_test_run();
}
