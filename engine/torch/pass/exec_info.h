/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which nodes a pass runs, if its caller wants chosen gradients alone: PyTorch's exec_info_. A node
 * runs if a wanted gradient lies below it. The marks are in the graph task's node table; the thread
 * that prepares the pass writes them, and everybody may read them afterwards. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_graph_task_init_to_execute marks, for the wanted outputs, what must run below root. Nodes
 * whose topological_nr is below min_topo are not followed: no path leads from them to a wanted one.
 */
void td_graph_task_init_to_execute(td_graph_task *graph_task, td_node *root, const td_edge *outputs,
                                   uint32_t n_outputs, uint64_t min_topo);

/* td_graph_task_should_execute tells whether the marks want a node's function or its gradients. */
bool td_graph_task_should_execute(const td_graph_task *graph_task, const td_node *node);

/* td_needs_gradient tells a node's apply whether output `output_nr` leads to a node that the
 * calling thread's pass wants; outside a pass, whether it leads anywhere. PyTorch's
 * task_should_compute_output. */
bool td_needs_gradient(const td_node *node, uint32_t output_nr);

/* td_needs_gradient_as lets a node of the graph answer for one that is no node of the graph, which
 * the calling thread is about to run. Returns what stood there before. */
typedef struct td_stand_in {
  const td_node *node, *instead; /* (borrowed) */
} td_stand_in;
td_stand_in td_needs_gradient_as(td_stand_in stand_in);

/* td_graph_task_will_execute tells whether the calling thread's pass is going to run a node.
 * TD_AUTOGRAD outside a pass, and for a leaf whose gradient the pass returns: PyTorch's texts. */
td_status td_graph_task_will_execute(const td_node *node, bool *will, td_error *error);
