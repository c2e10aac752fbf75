/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Do gradients fit where they go? Any thread. Private to engine/torch/pass. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_validate_outputs makes gradients fit the edges that they go along, in PyTorch's order: counts
 * them, reduces broadcast shapes, casts dtypes, checks layouts and devices. With PyTorch's texts,
 * most of which begin with the name of their maker: a node, or NULL for the caller of backward. */
td_status td_validate_outputs(const td_node *maker, const td_edge *edges, uint32_t n_edges,
                              td_tensor **gradients, uint32_t n_gradients, td_error *error);
