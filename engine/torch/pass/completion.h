/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a pass ends: with the gradients, or with its first error. Any thread that worked for it. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* td_graph_task_complete sets the result; later calls wait until it is set. It is an error if
 * buffers are left waiting. Else final callbacks are called, under the graph task's lock, and the
 * first that fails gives the error. td_graph_task_fail settles the result with an error, which it
 * takes; an error after completion is ignored. td_graph_task_wait waits until it is settled. */
void td_graph_task_complete(td_graph_task *graph_task);
void td_graph_task_wait(td_graph_task *graph_task);
void td_graph_task_fail(td_graph_task *graph_task, td_status status, td_error *error);
