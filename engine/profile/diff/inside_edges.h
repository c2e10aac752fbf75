/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The edges of a node that stay inside one pass. A node may have far more edges than the pass has
 * nodes. Then the walk finds the edges by the nodes of the pass, and takes at most the first 1,000
 * between two nodes. So the walks over many small passes stay short. Private to engine/profile. */
#pragma once

#include "engine/profile/diff/visits.h"

/* The nodes of one pass, each once. */
typedef struct td_inside {
  const td_catalog *catalog;
  const uint32_t *nodes;  /* (borrowed) */
  const uint32_t *places; /* (borrowed) by row: TD_NONE for all nodes outside */
  uint32_t n;
} td_inside;

typedef struct td_inside_edges {
  const td_inside *inside;
  uint32_t *numbers; /* (owned) edges to look at; in use if the node has too many */
  uint32_t capacity;
  uint32_t first, i, n;
  bool listed;
} td_inside_edges;

/* td_inside_edges_begin starts a walk over a node's edges within a pass. Zero-initialise before the
 * first walk; one struct serves many. */
void td_inside_edges_begin(td_inside_edges *self, const td_inside *inside, uint32_t node);

/* td_inside_edges_next returns the next edge by output_nr, NULL after the last. */
const td_catalog_edge *td_inside_edges_next(td_inside_edges *self);

void td_inside_edges_fini(td_inside_edges *self);
