/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calling thread while it evaluates a node of a pass over accelerators: on which device and
 * stream. Private to engine/torch/pass. */
#pragma once

#include "engine/torch/device/stream.h"
#include "engine/torch/pass/graph_task.h"

/* On the stack of the thread. */
typedef struct td_node_guard {
  td_stream_guard stream;
  uint32_t earlier_node;
} td_node_guard;

/* td_node_guard_enter makes the node's stream and device current. The stream waits for the
 * gradients in the buffer (NULL: none). td_node_guard_leave restores what was current. If is_last,
 * nobody in the pass waits for the node, so its stream is noted for the end of the pass. */
void td_node_guard_enter(td_node_guard *guard, const td_graph_task *graph_task, const td_node *node,
                         const td_input_buffer *buffer);
void td_node_guard_leave(td_node_guard *guard, td_graph_task *graph_task, const td_node *node,
                         bool is_last);
