/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams that a backward pass begins on, and those that its last nodes end on: Note [Streams
 * of a pass]. Nothing here is called on a machine of the CPU alone. Private to engine/torch/pass.
 *
 * Note [Streams of a pass]
 * A node remembers the stream that was current on its device when it was built, and runs on it. The
 * producer of its gradient may have run on another stream: the input buffer sees to it that the
 * node's stream waits (arrival.h). When a pass is over its caller's current streams wait for those
 * of the nodes that nobody waits for: leaves and captured ones. So a program may look at .grad on
 * the stream on which it called backward, without waits of its own. On any other stream it must
 * wait. */
#pragma once

#include "engine/torch/device/stream.h"
#include "engine/torch/pass/node_table.h"

typedef struct td_pass_streams td_pass_streams;

/* td_pass_streams_new notes the calling thread's current streams, if a node of the pass has one.
 * The nodes are known by then. */
td_pass_streams *td_pass_streams_new(const td_node_table *nodes);
void td_pass_streams_free(td_pass_streams *streams); /* NULL is fine */

/* td_pass_streams_note_locked notes a stream that nobody in the pass waits for: of a leaf or of a
 * captured node. td_pass_streams_join_locked makes the caller's streams wait for those, and makes
 * the caller's streams current, for final callbacks, until td_pass_streams_leave. Under the graph
 * task's lock. td_pass_streams_end is for the caller, when the pass is over. */
void td_pass_streams_note_locked(td_pass_streams *streams, td_stream stream);
void td_pass_streams_join_locked(td_pass_streams *streams);
void td_pass_streams_leave(td_pass_streams *streams);
void td_pass_streams_end(td_pass_streams *streams);

/* td_pass_streams_node_begins and td_pass_streams_node_ends keep the clock of simulated devices. No
 * node begins before its pass, and no pass ends before its nodes: Note [Virtual time]. */
void td_pass_streams_node_begins(const td_pass_streams *streams);
void td_pass_streams_node_ends(td_pass_streams *streams);
