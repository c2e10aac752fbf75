/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/chain/chain_paths.h"

#include "engine/base/alloc.h"

typedef struct search {
  const td_catalog *catalog;
  bool is_along;
  uint32_t *found; /* (owned) [n_nodes] rows, in the order in which they were found */
  uint32_t n;
  uint32_t *before; /* (owned) [n_nodes] by row: 1 + place in `found` of the node before, 0: not
                       found, TD_NONE: not to be found */
} search;

static void
allow_all(search *self, uint32_t value) {
  for (uint32_t i = 0; i < self->catalog->n_nodes; i++)
    self->before[i] = value;
}

/* Only nodes that ran in a graph task. */
static void
allow_those_of(search *self, uint32_t graph_task) {
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(self->catalog, graph_task);
  allow_all(self, pass ? TD_NONE : 0);
  for (uint32_t i = 0; pass && i < pass->n_ran; i++) {
    uint32_t row = td_catalog_node_row(self->catalog, self->catalog->ran[pass->first_ran + i]);
    if (row != TD_NO_ROW) self->before[row] = 0;
  }
}

static void
add(search *self, uint32_t node, uint32_t place) {
  uint32_t row = td_catalog_node_row(self->catalog, node);
  if (row == TD_NO_ROW || self->before[row]) return;
  self->before[row] = place + 1;
  self->found[self->n++] = row;
}

static void
add_neighbours(search *self, uint32_t place) {
  const td_catalog *catalog = self->catalog;
  const td_catalog_node *facts = &catalog->node_rows[self->found[place]];
  for (uint32_t i = 0; self->is_along && i < facts->n_out; i++)
    add(self, catalog->edges[facts->first_out + i].to, place);
  for (uint32_t i = 0; !self->is_along && i < facts->n_in; i++)
    add(self, catalog->edges[catalog->in_edges[facts->first_in + i]].from, place);
}

static void
take_path(const search *self, uint32_t place, td_chain_path *path) {
  uint32_t n = 1;
  for (uint32_t i = place; i > 0; i = self->before[self->found[i]] - 1)
    n++;
  path->nodes = TD_NEW_N(uint32_t, n);
  path->n = n;
  for (uint32_t i = place; n-- > 0; i = i > 0 ? self->before[self->found[i]] - 1 : 0)
    path->nodes[n] = self->catalog->node_rows[self->found[i]].id;
}

static bool
run(search *self, uint32_t from, const td_number_map *goals, td_chain_path *path) {
  uint32_t row = td_catalog_node_row(self->catalog, from);
  if (row == TD_NO_ROW) return false;
  self->before[row] = 0;
  add(self, from, 0);
  for (uint32_t place = 0; place < self->n; place++) {
    uint32_t node = self->catalog->node_rows[self->found[place]].id;
    if (td_number_map_find(goals, node)) {
      take_path(self, place, path);
      return true;
    }
    add_neighbours(self, place);
  }
  return false;
}

bool
td_chain_path_find(const td_catalog *catalog, uint32_t from, bool is_along, uint32_t through,
                   const td_number_map *goals, td_chain_path *path) {
  search self = {.catalog = catalog, .is_along = is_along};
  *path = (td_chain_path){0};
  self.found = td_try_alloc(catalog->n_nodes, sizeof *self.found);
  self.before = td_try_alloc(catalog->n_nodes, sizeof *self.before);
  bool found = false;
  if (self.found && self.before) {
    if (through != TD_NONE) allow_those_of(&self, through);
    found = run(&self, from, goals, path);
  }
  free(self.found);
  free(self.before);
  return found;
}

void
td_chain_path_fini(td_chain_path *path) {
  free(path->nodes);
  *path = (td_chain_path){0};
}
