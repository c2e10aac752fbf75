/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads of distributed passes: whoever brings work does it. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_dist_global_queue writes the queue that device threads hand CPU nodes of distributed passes to
 * (borrowed, for ever). The first call starts its thread; TD_AUTOGRAD with the system's text if
 * that fails. */
td_status td_dist_global_queue(td_ready_queue **queue, td_error *error);

/* td_dist_run runs a node of a pass, with its buffer (taken, or NULL), on the calling thread. Then
 * it runs the CPU nodes that become ready by that, from a queue of its own. It returns when that
 * queue is empty or a node fails. */
void td_dist_run(td_graph_task *graph_task, td_node *node, td_input_buffer *buffer,
                 bool is_counted);
