/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Folded scenes of a pass: modules and runs of modules are blocks. A block stands for all its
 * nodes: td_graph_scene_place finds each of them there. Where a function returns a node for a
 * block, it is the block's first one, at which gradients enter. Any thread. */
#pragma once

#include "ui/draw/graph_scene.h"
#include "ui/geometry/fold_tree.h"

/* What of a pass can be folded. Read-only once it is made. */
typedef struct td_graph_folds td_graph_folds;

/* td_graph_folds_new collects the nodes of a pass and their groups, without a layout. The catalog
 * must outlive it. A parameter is in the module of its name. Without a name it is where its
 * users are, if these are in one module. A node whose module has no name is in
 * no group. */
td_graph_folds *td_graph_folds_new(const td_catalog *catalog, uint32_t graph_task);
void td_graph_folds_free(td_graph_folds *folds);

const td_fold_tree *td_graph_folds_tree(const td_graph_folds *folds);
uint32_t td_graph_folds_n_nodes(const td_graph_folds *folds);

/* td_graph_folds_group returns the innermost group of a node; 0 if it is in none, or not in the
 * pass. */
uint32_t td_graph_folds_group(const td_graph_folds *folds, uint32_t node);

/* td_graph_scene_new_folded lays out a pass whose groups are closed except where `open[g]` is 1. */
td_graph_scene *td_graph_scene_new_folded(const td_graph_folds *folds, const uint8_t *open);

/* td_graph_scene_n_blocks counts the blocks of a scene. td_graph_scene_block returns the group of
 * the block that a node is in; 0 if the scene shows the node itself, or does not have it. */
uint32_t td_graph_scene_n_blocks(const td_graph_scene *scene);
uint32_t td_graph_scene_block(const td_graph_scene *scene, uint32_t node);
