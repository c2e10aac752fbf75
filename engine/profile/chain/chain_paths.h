/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The shortest way through the graph from a node to one of some others. Private to
 * engine/profile/chain. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/replay/catalog.h"

typedef struct td_chain_path {
  uint32_t *nodes; /* (owned) [n] from the first node to the goal */
  uint32_t n;
} td_chain_path;

/* td_chain_path_find looks breadth first, against the edges or along them: what sent gradients to a
 * node, or what its operation got from others. `goals` has the nodes to reach. If `through` is not
 * TD_NONE, the path has no node that did not run in that graph task. False if there is no path, or
 * no memory for the search. td_chain_path_fini frees. */
bool td_chain_path_find(const td_catalog *catalog, uint32_t from, bool is_along, uint32_t through,
                        const td_number_map *goals, td_chain_path *path);
void td_chain_path_fini(td_chain_path *path);
