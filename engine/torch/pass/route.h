/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Routing: which ready queue a node's task goes to, and so which thread runs it. Tasks of the CPU
 * and of the meta device go to the queue of the pass's caller, those of an accelerator to its
 * device thread's. Private to engine/torch/pass. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_route_device returns the device that a task belongs to. By policy route_by_node (PyTorch 2.6
 * and later) it is the device of the node's first input that is not on the CPU. Before, it was the
 * device of the first gradient in its buffer that is not on the CPU. A node without gradients ran
 * on the CPU. buffer may be NULL: a GraphRoot's. */
td_device td_route_device(const td_node *node, const td_input_buffer *buffer);

/* td_route_queue returns the queue for a task (borrowed). If the pass runs without multithreading,
 * it is always the caller's queue. */
td_ready_queue *td_route_queue(td_graph_task *graph_task, const td_node *node,
                               const td_input_buffer *buffer);
