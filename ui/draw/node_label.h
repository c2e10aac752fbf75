/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What pictures call a node. In a deep model only the path of its module tells equal layers apart.
 * So a label that lacks room keeps the layer, and loses the rest first. Any thread; the caller
 * frees what is returned. */
#pragma once

#include "ui/draw/theme.h"

/* td_node_is_leaf tells an AccumulateGrad. */
bool td_node_is_leaf(const td_catalog *catalog, uint32_t node);

/* td_node_title returns the node's own name: "Addmm", of a leaf "layers.0.weight". A leaf without a
 * name has its shape: "leaf 4 (3×4 float32)". */
char *td_node_title(const td_catalog *catalog, uint32_t node);

/* td_node_shape returns the shape of what a leaf holds, "3×4 float32". NULL for other nodes, and if
 * the tape does not say. */
char *td_node_shape(const td_catalog *catalog, uint32_t node);

/* td_path_short returns the path of a module at one of the steps by which it gets shorter, or NULL
 * after the last. The number of the layer stays. The last n_kept names stay longest:
 * "encoder.layers.0.mlp.fc1", "…layers.0.mlp.fc1", "…0.mlp.fc1", "0…fc1". */
char *td_path_short(const char *path, uint32_t n_kept, uint32_t step);

/* td_node_title_within returns the title in as few bytes, if a leaf's path can be made that short.
 * td_node_module_within does the same with the path of td_catalog_module_label, whose class stays.
 * It returns NULL if the tape does not name the module. */
char *td_node_title_within(const td_catalog *catalog, uint32_t node, size_t most);
char *td_node_module_within(const td_catalog *catalog, uint32_t node, size_t most);

/* td_node_title_fit returns as much of the title as there is room for. */
char *td_node_title_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node,
                        double size, bool bold, double room);

/* td_node_module_fit returns as much of "Linear · layers.0.linear1" as there is room for, or the
 * shortest form if there is no room. NULL if the tape does not name the module. */
char *td_node_module_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node,
                         double size, double room);

/* td_node_label_fit returns what one line has room for of "Addmm · Linear · layers.0.linear1". If
 * it has no room for both, the layer goes before the operation: "0…linear1". If there is not even
 * room for the layer, the title remains. */
char *td_node_label_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node,
                        double size, double room);
