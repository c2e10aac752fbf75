/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of a page, with numbers from 0. A page has so many at most; others have no place on it.
 * Zero-initialise but for the catalog and `most`. Private to ui/page. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"

typedef struct td_page_nodes {
  const td_catalog *catalog; /* (borrowed) */
  uint32_t most;
  uint32_t *ids; /* (owned) [n] */
  uint32_t n, capacity;
  td_number_map places; /* by node: 1 + number */
  bool left_out;        /* a node got no place */
} td_page_nodes;

/* td_page_nodes_put returns the number of a node and gives it one if there is room. TD_NONE: it has
 * none, or the tape does not know it. td_page_nodes_find gives no numbers. */
uint32_t td_page_nodes_put(td_page_nodes *nodes, uint32_t node);
uint32_t td_page_nodes_find(const td_page_nodes *nodes, uint32_t node);
void td_page_nodes_fini(td_page_nodes *nodes);
