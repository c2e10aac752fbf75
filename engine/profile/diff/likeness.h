/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a comparison of two tapes needs of each node, as hashes: its operation, and the gradients
 * that it expects. A text is hashed once, however many nodes have it. Read-only once made. Private
 * to engine/profile. */
#pragma once

#include "engine/replay/catalog.h"

typedef struct td_likeness {
  uint64_t *operations; /* (owned) by the node's row: td_op_name_hash of its name */
  uint64_t
      *shapes; /* (owned) by the node's row: of "[4, 8] float32, ..."; 0: the tape does not say */
} td_likeness;

/* td_likeness_init reads all nodes of a catalog; false without memory. */
bool td_likeness_init(td_likeness *likeness, const td_catalog *catalog);
void td_likeness_fini(td_likeness *likeness);
