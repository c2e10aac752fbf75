/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of a derivation, with their edges. A node lives until it is freed and no pass holds it.
 * Private to this folder. */
#pragma once

#include "engine/trace/derive/derivation.h"

typedef struct td_redge {
  uint32_t output_nr, node, input_nr;
} td_redge;

typedef struct td_rnode {
  uint32_t id;
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device;
  td_redge *edges; /* (owned) that lead somewhere, by output_nr */
  uint32_t n_edges, edges_capacity;
  uint32_t n_passes; /* that hold it */
  bool gone;         /* freed */
  bool is_partial;   /* an edge may be missing */
} td_rnode;

/* td_rnode_add takes in a node, and td_rnode_add_edge an edge of one. */
td_rnode *td_rnode_add(td_derivation *self, const td_event_node_new *event);
void td_rnode_add_edge(td_derivation *self, const td_event_edge_new *event);

/* td_rnode_find returns the node with this id, or NULL. */
td_rnode *td_rnode_find(const td_derivation *self, uint32_t id);

void td_rnode_hold(td_rnode *node);
void td_rnode_release(td_derivation *self, td_rnode *node);
void td_rnode_drop(td_derivation *self, uint32_t id);
void td_rnodes_fini(td_derivation *self);
