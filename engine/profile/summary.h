/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the time of a tape went, in short: nodes and modules. Read-only once it is made;
 * any number of threads may read it. */
#pragma once

#include "engine/replay/catalog.h"

/* A node and the time inside its own function, over all passes. Time in nested passes is theirs. */
typedef struct td_summary_node {
  uint32_t node;
  uint64_t ns;
} td_summary_node;

/* A module and the time inside the functions of the nodes that its forward pass made. */
typedef struct td_summary_module {
  const char *module;     /* (borrowed) from the catalog */
  uint32_t n_nodes, node; /* node: one of them */
  uint64_t ns;
} td_summary_module;

typedef struct td_summary {
  td_summary_node *nodes;     /* (owned) that ran, the slowest first */
  td_summary_module *modules; /* (owned) the slowest first */
  uint32_t n_nodes, n_modules;
  uint64_t total_ns; /* of all nodes */
} td_summary;

/* td_summary_make reads the catalog's segment once. Of an outline, it has
 * nothing. TD_OUT_OF_MEMORY, or as td_tape_check_readable. */
td_status td_summary_make(td_tape *tape, const td_catalog *catalog, td_summary *summary,
                          td_error *error);
void td_summary_fini(td_summary *summary);
