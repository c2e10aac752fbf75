/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GraphRoot: the node above several roots; it hands each its gradient. Its input
 * metadata are the gradients', so that it runs where they are (PyTorch 2.6 and later; route.h). */
#pragma once

#include "engine/torch/graph/node.h"

/* td_graph_root_new takes a sequence number of the calling thread; edges and gradients (NULL: none)
 * get new references. */
td_node *td_graph_root_new(const td_edge *roots, td_tensor *const *gradients, uint32_t n_roots);
