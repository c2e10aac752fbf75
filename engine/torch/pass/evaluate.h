/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What happens to one task. The node's function is called, what it returns is validated, and the
 * gradients are scattered to the nodes below. Those become ready or wait in not_ready. Called by
 * workers, private to engine/torch/pass. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_evaluate_function runs a task's node. The task keeps its node; its buffer may be emptied. On
 * failure the pass is to be failed with error. */
td_status td_evaluate_function(td_graph_task *graph_task, td_node_task *task, td_error *error);
