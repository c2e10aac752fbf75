/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/route.h"

#include "engine/torch/graph/semantics.h"
#include "engine/torch/pass/device_queues.h"

static td_device
device_of_gradients(const td_input_buffer *buffer) {
  for (uint32_t i = 0; buffer && i < buffer->n_slots; i++)
    if (buffer->slots[i].tensor && buffer->slots[i].tensor->device != TD_CPU)
      return buffer->slots[i].tensor->device;
  return TD_CPU;
}

td_device
td_route_device(const td_node *node, const td_input_buffer *buffer) {
  return td_policy(route_by_node) ? node->device : device_of_gradients(buffer);
}

td_ready_queue *
td_route_queue(td_graph_task *graph_task, const td_node *node, const td_input_buffer *buffer) {
  td_ready_queue *queue = NULL;
  if (!graph_task->single_threaded) queue = td_device_queue(td_route_device(node, buffer));
  return queue ? queue : graph_task->cpu_ready_queue;
}
