/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/fold_tree.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/text_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_DEPTH = 24, MOST_DIGITS = 9, NO_NUMBER = -1 };

typedef struct grower {
  const td_fold_graph *graph;
  td_fold_tree *tree;
  uint32_t capacity;
  uint32_t *depth;  /* (owned, as all below) [n_groups], that of modules */
  uint64_t *name;   /* hash of a module's last name */
  uint64_t *inside; /* sum of the hashes of what a module contains */
} grower;

static const char *
last_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : path;
}

static uint32_t
add_group(grower *self, char *path, uint32_t parent) {
  td_fold_tree *tree = self->tree;
  TD_GROW(tree->groups, tree->n_groups, self->capacity);
  tree->groups[tree->n_groups] = (td_fold_group){.path = path, .parent = parent, .n_blocks = 1};
  return tree->n_groups++;
}

/* Numbers of texts and of groups are the same: 0 is the empty text, and the whole graph. */
static uint32_t
put_path(grower *self, td_text_table *texts, const char *path) {
  uint32_t parent = 0, depth = 0;
  for (size_t length = 0; ++depth; length++) {
    length += depth < MOST_DEPTH ? strcspn(path + length, ".") : strlen(path + length);
    uint32_t group = td_text_table_put(texts, path, length);
    if (group == self->tree->n_groups)
      add_group(self, td_format("%.*s", (int)length, path), parent);
    parent = group;
    if (!path[length]) break;
  }
  return parent;
}

static void
put_modules(grower *self) {
  const td_fold_graph *graph = self->graph;
  td_text_table texts = {0};
  uint32_t *of_path = TD_NEW_N(uint32_t, graph->n_paths);
  add_group(self, td_dup_string(""), 0);
  for (uint32_t i = 0; i < graph->n_paths; i++)
    of_path[i] = put_path(self, &texts, graph->paths[i]);
  for (uint32_t v = 0; v < graph->n_nodes; v++)
    self->tree->group_of[v] = graph->module[v] ? of_path[graph->module[v] - 1] : 0;
  free(of_path);
  td_text_table_fini(&texts);
}

static void
describe_modules(grower *self) {
  const td_fold_tree *tree = self->tree;
  self->depth = TD_NEW_N(uint32_t, tree->n_groups);
  self->name = TD_NEW_N(uint64_t, tree->n_groups);
  self->inside = TD_NEW_N(uint64_t, tree->n_groups);
  for (uint32_t g = 1; g < tree->n_groups; g++) {
    const char *name = last_name(tree->groups[g].path);
    self->name[g] = td_hash_bytes(TD_HASH_SEED, name, strlen(name));
    self->depth[g] = self->depth[tree->groups[g].parent] + 1;
  }
}

/* A node as a module sees it: its kind, and the names of modules on the way to it. */
typedef struct sight {
  uint32_t group;
  uint64_t hash;
} sight;

static sight
see(const grower *self, uint32_t node) {
  return (sight){self->tree->group_of[node], td_hash_number(self->graph->kind[node])};
}

static void
step_out(const grower *self, sight *sight) {
  sight->hash = td_hash_number(sight->hash ^ self->name[sight->group]);
  sight->group = self->tree->groups[sight->group].parent;
}

static void
add_node(grower *self, uint32_t node) {
  for (sight at = see(self, node);; step_out(self, &at)) {
    self->inside[at.group] += at.hash;
    self->tree->groups[at.group].n_nodes++;
    if (!at.group) return;
  }
}

/* An edge is inside the modules that both ends are in. */
static void
add_edge(grower *self, uint32_t edge) {
  sight from = see(self, self->graph->from[edge]), to = see(self, self->graph->to[edge]);
  while (from.group != to.group)
    step_out(self, self->depth[from.group] >= self->depth[to.group] ? &from : &to);
  for (; from.group; step_out(self, &from), step_out(self, &to))
    self->inside[from.group] += td_hash_number(from.hash + 3 * to.hash);
}

static void
look_inside(grower *self) {
  for (uint32_t v = 0; v < self->graph->n_nodes; v++)
    add_node(self, v);
  for (uint32_t e = 0; e < self->graph->n_edges; e++)
    add_edge(self, e);
}

/* A module whose name is a number. */
typedef struct numbered {
  uint32_t parent, group;
  int64_t number;
} numbered;

static int64_t
number_of(const char *path) {
  const char *name = last_name(path);
  size_t length = strspn(name, "0123456789");
  if (!length || name[length] || length > MOST_DIGITS || (name[0] == '0' && length > 1))
    return NO_NUMBER;
  return strtoll(name, NULL, 10);
}

static int
compare_numbered(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static numbered *
list_numbered(const td_fold_tree *tree, uint32_t *n) {
  numbered *all = TD_NEW_N(numbered, tree->n_groups);
  *n = 0;
  for (uint32_t g = 1; g < tree->n_groups; g++) {
    int64_t number = number_of(tree->groups[g].path);
    if (number != NO_NUMBER) all[(*n)++] = (numbered){tree->groups[g].parent, g, number};
  }
  qsort(all, *n, sizeof *all, compare_numbered);
  return all;
}

static bool
follows(const grower *self, const numbered *next) {
  const numbered *last = next - 1;
  const td_fold_group *groups = self->tree->groups;
  return next->parent == last->parent && next->number == last->number + 1 &&
         groups[next->group].n_nodes == groups[last->group].n_nodes &&
         self->inside[next->group] == self->inside[last->group];
}

static void
add_run(grower *self, const numbered *first, uint32_t n) {
  const char *path = self->tree->groups[first->group].path;
  int stem = (int)(last_name(path) - path);
  char *name =
      td_format("%.*s%" PRIi64 "–%" PRIi64, stem, path, first->number, first[n - 1].number);
  uint32_t run = add_group(self, name, first->parent);
  td_fold_group *groups = self->tree->groups;
  groups[run].n_blocks = n;
  for (uint32_t i = 0; i < n; i++) {
    groups[first[i].group].parent = run;
    groups[run].n_nodes += groups[first[i].group].n_nodes;
  }
}

static void
add_runs(grower *self) {
  uint32_t n, end;
  numbered *all = list_numbered(self->tree, &n);
  for (uint32_t i = 0; i < n; i = end) {
    for (end = i + 1; end < n && follows(self, &all[end]);)
      end++;
    if (end - i > 1) add_run(self, &all[i], end - i);
  }
  free(all);
}

/* How many nodes and groups are in a group itself. */
static uint32_t *
count_direct(const grower *self) {
  const td_fold_tree *tree = self->tree;
  uint32_t *n = TD_NEW_N(uint32_t, tree->n_groups);
  for (uint32_t v = 0; v < self->graph->n_nodes; v++)
    n[tree->group_of[v]] += 2;
  for (uint32_t g = 1; g < tree->n_groups; g++)
    n[tree->groups[g].parent]++;
  return n;
}

/* "h" is no group if all that it has is "h.0–15". But the modules of a run all are groups. */
static bool *
find_shells(const grower *self) {
  const td_fold_tree *tree = self->tree;
  bool *shell = TD_NEW_N(bool, tree->n_groups);
  uint32_t *n = count_direct(self);
  for (uint32_t g = 1; g < tree->n_groups; g++)
    shell[g] = n[g] == 1 && tree->groups[tree->groups[g].parent].n_blocks == 1;
  free(n);
  return shell;
}

static void
drop_shells(grower *self) {
  td_fold_tree *tree = self->tree;
  bool *shell = find_shells(self);
  for (uint32_t g = 1; g < tree->n_groups; g++)
    while (shell[tree->groups[g].parent])
      tree->groups[g].parent = tree->groups[tree->groups[g].parent].parent;
  for (uint32_t g = 1; g < tree->n_groups; g++)
    if (shell[g]) tree->groups[g].n_nodes = 0;
  free(shell);
}

td_fold_tree *
td_fold_tree_new(const td_fold_graph *graph) {
  grower self = {.graph = graph, .tree = TD_NEW(td_fold_tree)};
  self.tree->group_of = TD_NEW_N(uint32_t, graph->n_nodes);
  put_modules(&self);
  describe_modules(&self);
  look_inside(&self);
  add_runs(&self);
  drop_shells(&self);
  free(self.depth);
  free(self.name);
  free(self.inside);
  return self.tree;
}

void
td_fold_tree_free(td_fold_tree *tree) {
  if (!tree) return;
  for (uint32_t g = 0; g < tree->n_groups; g++)
    free(tree->groups[g].path);
  free(tree->groups);
  free(tree->group_of);
  free(tree);
}
