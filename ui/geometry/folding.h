/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A folded graph: each closed group is a block, and what is in no closed group stays as it is. Pure
 * functions over arrays. Time and memory grow with nodes, edges and groups. Any thread. */
#pragma once

#include "ui/geometry/fold_tree.h"

typedef struct td_fold_item {
  uint32_t group;                   /* of a block; 0: a single node */
  uint32_t first_member, n_members; /* slice of members, in rising order */
  uint32_t part, n_parts;           /* "part 2 of 3" of a group that had to be cut; else 1 of 1 */
} td_fold_item;

typedef struct td_folding {
  td_fold_item *items; /* (owned, as all below) [n_items] in the order of their first nodes */
  uint32_t n_items, n_blocks, n_edges;
  uint32_t *item_of;   /* [n_nodes] */
  uint32_t *members;   /* [n_nodes] nodes, by item */
  uint32_t *from, *to; /* [n_edges] items */
  uint32_t *edge;      /* [n_edges] the first edge of the graph that it stands for */
} td_folding;

/* td_folding_new folds a graph. `open[g]` is 1 for a group whose inside is to be seen; a group that
 * is inside a closed one is not seen. Each node is in exactly one item. A group of one node is that
 * node.
 *
 * If the graph has no cycle, the folded graph has none: a group that others would close a cycle
 * with is cut. Such groups and nodes lead to each other along some cycle of the folded graph. Each
 * of their nodes has a rank: the greatest number of steps from one of them to another on the paths
 * to it. A part is what has the same rank. So the cell of a recurrent network has a part for each
 * time step that something outside the cell comes between.
 *
 * No edge leads from an item to itself, except an edge from a node to itself. Of edges between the
 * same two items only the first stays if one of them is a block. The caller frees the folding with
 * td_folding_free. */
td_folding *td_folding_new(const td_fold_graph *graph, const td_fold_tree *tree,
                           const uint8_t *open);
void td_folding_free(td_folding *folding);
