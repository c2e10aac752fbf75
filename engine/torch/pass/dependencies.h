/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many gradients each node of a pass waits for: PyTorch's dependencies_. The thread that
 * prepares the pass. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_graph_task_compute_dependencies counts the edges into every node that can be reached from
 * root. Nodes whose topological_nr is below min_topo are not followed: no path leads from them to a
 * wanted one. */
void td_graph_task_compute_dependencies(td_graph_task *graph_task, td_node *root,
                                        uint64_t min_topo);

/* td_graph_task_emit_dependencies puts the counts on the tape, if others than this counted. */
void td_graph_task_emit_dependencies(const td_graph_task *graph_task);
