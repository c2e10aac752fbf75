/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams in a backward pass: Note [Streams of a pass]. Nothing here is called on a machine of the
 * CPU alone. Private to engine/pass.
 *
 * Note [Streams of a pass]
 * A node remembers the stream that was current on its device when it was built, and runs on it. Who
 * gives it a gradient has run on another stream, perhaps: the input buffer sees to it that the
 * node's stream waits (arrival.h). When a pass is over its caller's current streams wait for those
 * of the nodes that nobody waits for: leaves and captured ones. So a program that looks at .grad on
 * the stream on which it called backward needs no waits of its own, on any other it does. */
#pragma once

#include "engine/device/stream.h"
#include "engine/pass/evaluation.h"

/* What a pass knows of streams; graph_task->streams, NULL without accelerators. */
typedef struct td_pass_streams td_pass_streams;

/* td_pass_streams_begin notes the calling thread's current streams, if a node of the pass has one;
 * called when its nodes are known. td_pass_streams_join_locked makes them wait for the streams of
 * leaves and captured nodes, and makes them current, for final callbacks, until
 * td_pass_streams_leave. Under the graph task's lock. td_pass_streams_end is for the caller, when
 * the pass is over. */
void td_pass_streams_begin(td_graph_task *graph_task);
void td_pass_streams_join_locked(td_graph_task *graph_task);
void td_pass_streams_leave(td_graph_task *graph_task);
void td_pass_streams_end(td_graph_task *graph_task);
void td_pass_streams_free(td_pass_streams *streams); /* NULL is fine */

/* The calling thread while it evaluates a node. On its stack. */
typedef struct td_node_guard {
  td_stream_guard stream;
  uint32_t earlier_node;
} td_node_guard;

/* td_node_guard_enter makes the node's stream and device current, and the stream wait for what the
 * buffer's gradients are made by. td_node_guard_leave puts back what was, and notes the node's
 * stream for the end of the pass if is_last: nobody in the pass waits for it. */
void td_node_guard_enter(td_node_guard *guard, const td_evaluation *evaluation);
void td_node_guard_leave(td_node_guard *guard, const td_evaluation *evaluation, bool is_last);
