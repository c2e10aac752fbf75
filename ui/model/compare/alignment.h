/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which position of one tape goes with which of another, or of two passes of one tape. `tapedeck
 * diff` finds the pairs of nodes (engine/profile/diff). Their pops are the fixed points here.
 *
 * Note [Two playheads]
 * A pair has a position on each side: just after the pop of its node. Two playheads must not jump
 * back while one of them goes forward. So only pairs in the longest run that kept its order are
 * fixed points. Between two of them both sides go event by event, until one side comes to its next
 * fixed point. The other pairs tell which node goes with which, and no position.
 *
 * Sides are 0 and 1. Immutable after td_alignment_end; then any thread may read it. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct td_alignment td_alignment;

/* A node that ran on both sides, or TD_NONE twice if something else happened on both. */
typedef struct td_alignment_pair {
  uint64_t position[2];
  uint32_t node[2];
} td_alignment_pair;

td_alignment *td_alignment_new(void);
void td_alignment_free(td_alignment *self);

/* td_alignment_add adds a pair, td_alignment_add_lone a node that ran on one side alone. */
void td_alignment_add(td_alignment *self, const td_alignment_pair *pair);
void td_alignment_add_lone(td_alignment *self, int side, uint32_t node);

/* td_alignment_end says where each side begins and ends, and makes the alignment ready. A pair
 * outside is no fixed point. */
void td_alignment_end(td_alignment *self, const uint64_t first[2], const uint64_t last[2]);

/* td_alignment_first and td_alignment_last return the first and the last position of a side. */
uint64_t td_alignment_first(const td_alignment *self, int side);
uint64_t td_alignment_last(const td_alignment *self, int side);

/* td_alignment_map returns the position of the other side that goes with one of this side. */
uint64_t td_alignment_map(const td_alignment *self, int side, uint64_t position);

/* td_alignment_find returns the pair of a node of this side, or NULL. A node may have run more
 * than once: then it is the pair nearest to a position. */
const td_alignment_pair *td_alignment_find(const td_alignment *self, int side, uint32_t node,
                                           uint64_t position);

/* td_alignment_get_lone returns the nodes that ran on this side alone, sorted. */
const uint32_t *td_alignment_get_lone(const td_alignment *self, int side, uint32_t *n);

/* td_alignment_is_fixed tells whether the positions of a pair go with each other. */
gboolean td_alignment_is_fixed(const td_alignment *self, const td_alignment_pair *pair);
