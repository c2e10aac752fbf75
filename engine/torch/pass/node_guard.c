/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/node_guard.h"

#include "engine/torch/device/cause.h"
#include "engine/torch/device/device.h"
#include "engine/torch/device/sim.h"
#include "engine/torch/pass/arrival.h"
#include "engine/torch/pass/engine_thread.h"
#include "engine/torch/pass/pass_streams.h"

void
td_node_guard_enter(td_node_guard *guard, const td_graph_task *graph_task, const td_node *node,
                    const td_input_buffer *buffer) {
  td_device_set_current(td_thread_self.device);
  guard->stream = td_stream_guard_begin(node->stream);
  guard->earlier_node = td_cause_set(td_node_id(node));
  td_pass_streams_node_begins(graph_task->streams);
  if (!buffer) return;
  td_sim_catch_up(buffer->time);
  td_arrivals_wait(buffer->streams, buffer->n_slots, node->stream, node);
}

void
td_node_guard_leave(td_node_guard *guard, td_graph_task *graph_task, const td_node *node,
                    bool is_last) {
  td_pass_streams_node_ends(graph_task->streams);
  td_cause_set(guard->earlier_node);
  td_stream_guard_end(&guard->stream);
  if (!is_last || !td_stream_is_some(node->stream)) return;
  td_lock_acquire(&graph_task->lock);
  td_pass_streams_note_locked(graph_task->streams, node->stream);
  td_lock_release(&graph_task->lock);
}
