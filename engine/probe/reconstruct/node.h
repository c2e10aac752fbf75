/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of a reconstruction, with their edges. A node lives until it is dropped and no pass
 * holds it. The caller holds the lock of reconstruct.c. */
#pragma once

#include "engine/probe/reconstruct/seen.h"

typedef struct td_rnode {
  uint32_t id;
  uint64_t sequence_nr;
  uint32_t topological_nr;
  int32_t device;
  uint32_t n_inputs, n_edges;
  uint32_t n_passes; /* that hold it */
  bool gone;         /* dropped */
  td_seen_edge edges[];
} td_rnode;

/* td_rnode_add makes a node and gives it the next id. Its topological number is one more than the
 * greatest of its children. */
td_rnode *td_rnode_add(const td_seen_node *seen);

/* td_rnode_find returns the node with this id, or NULL. */
td_rnode *td_rnode_find(uint32_t id);

void td_rnode_hold(td_rnode *node);
void td_rnode_release(td_rnode *node);
void td_rnode_drop(uint32_t id);

/* td_rnode_forget_all lets ids begin anew and leaves the memory: a thread may still be in there. */
void td_rnode_forget_all(void);

/* td_rnode_emit puts the node and its edges on the tape. */
void td_rnode_emit(const td_rnode *node, const char *name, uint32_t stack);
