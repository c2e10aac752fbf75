/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/inside_edges.h"

#include "engine/base/alloc.h"

/* A search among the edges to a node costs about as much as a look at this many edges. */
#define EDGES_PER_SEARCH 16
#define EDGES_OF_PAIR 1000

static int
compare_numbers(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

static void
list_edges_to(td_inside_edges *self, uint32_t from, uint32_t to) {
  uint32_t n;
  const uint32_t *edges = td_catalog_edges_between(self->inside->catalog, from, to, &n);
  for (uint32_t i = 0; i < n && i < EDGES_OF_PAIR; i++) {
    TD_GROW(self->numbers, self->n, self->capacity);
    self->numbers[self->n++] = edges[i];
  }
}

void
td_inside_edges_begin(td_inside_edges *self, const td_inside *inside, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_get(inside->catalog, node);
  self->inside = inside;
  self->i = 0;
  self->first = facts->first_out;
  self->n = facts->n_out;
  self->listed = facts->n_out / EDGES_PER_SEARCH > inside->n;
  if (!self->listed) return;
  self->n = 0;
  for (uint32_t i = 0; i < inside->n; i++)
    list_edges_to(self, node, inside->nodes[i]);
  if (self->n > 1) qsort(self->numbers, self->n, sizeof *self->numbers, compare_numbers);
}

const td_catalog_edge *
td_inside_edges_next(td_inside_edges *self) {
  const td_catalog *catalog = self->inside->catalog;
  while (self->i < self->n) {
    uint32_t number = self->listed ? self->numbers[self->i] : self->first + self->i;
    const td_catalog_edge *edge = &catalog->edges[number];
    self->i++;
    if (self->inside->places[td_catalog_node_row(catalog, edge->to)] != TD_NONE) return edge;
  }
  return NULL;
}

void
td_inside_edges_fini(td_inside_edges *self) {
  free(self->numbers);
  *self = (td_inside_edges){0};
}
