/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The groups into which a graph can be folded: the modules of the nodes, and runs of modules that
 * look alike. Pure functions over arrays. Time and memory grow with nodes and edges, times the
 * depth of the modules. Any thread. */
#pragma once

#include <stdint.h>

typedef struct td_fold_graph {
  uint32_t n_nodes, n_edges, n_paths;
  const uint32_t *from, *to; /* [n_edges] nodes */
  const uint32_t *kind;      /* [n_nodes] nodes of one kind do the same */
  const uint32_t *module;    /* [n_nodes] 1 + index of paths, or 0 */
  const char *const *paths;  /* [n_paths] "encoder.layers.3" */
} td_fold_graph;

/* Group 0 is the whole graph. A group of 0 nodes is none. */
typedef struct td_fold_group {
  char *path;        /* (owned) "h.3.attn"; of a run "h.0–15" */
  uint32_t parent;   /* group; 0 of group 0 */
  uint32_t n_nodes;  /* in it, and in the groups inside */
  uint32_t n_blocks; /* modules of a run; else 1 */
} td_fold_group;

typedef struct td_fold_tree {
  td_fold_group *groups; /* (owned) [n_groups] */
  uint32_t n_groups;
  uint32_t *group_of; /* (owned) [n_nodes] the innermost group of a node */
} td_fold_tree;

/* td_fold_tree_new makes the groups of a graph. A module is a group in the group of its parent
 * module. Modules with numbers in a row are a run if they have the same parent and equal insides.
 * Equal insides have as many nodes of each kind in the same places. They have as many edges between
 * the same kinds. The run is then the parent of its modules. A module without nodes of its own and
 * with one group inside has no group. The caller frees the tree with td_fold_tree_free. */
td_fold_tree *td_fold_tree_new(const td_fold_graph *graph);
void td_fold_tree_free(td_fold_tree *tree);
