/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sorting a collected catalog by node, so that each node has its slices of edges and metadata.
 * Private to engine/replay. Linear but for slices whose second key came out of order, and mentions.
 */
#pragma once

#include "engine/replay/catalog.h"

/* A node began in a graph task. */
typedef struct td_catalog_run {
  uint32_t graph_task, node;
} td_catalog_run;

/* td_catalog_slice orders catalog->edges by (from, output_nr) and catalog->metadata by (node,
 * input_nr). It makes catalog->in_edges and sets every node's slices. It sorts the mentions. It
 * makes catalog->ran of `runs` [catalog->n_ran] and sets every graph task's slice. False without
 * memory. */
bool td_catalog_slice(td_catalog *catalog, const td_catalog_run *runs);
