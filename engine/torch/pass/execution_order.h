/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * In which order a pass is going to run its nodes, asked from within it. The nodes' counts of
 * dependencies are read without a lock, as in PyTorch: the answer is refused if another thread
 * could change them. */
#pragma once

#include "engine/torch/graph/node.h"

/* td_graph_task_order predicts in which order the calling thread's pass will run its nodes. The
 * pass must not have begun to scatter. The result is a new array of borrowed nodes. TD_AUTOGRAD
 * with PyTorch's text outside a pass, and if other threads may work for the pass. */
td_status td_graph_task_order(td_node ***order, uint32_t *n, td_error *error);
