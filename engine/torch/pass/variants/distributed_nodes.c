/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/variants/distributed_nodes.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/graph/variable.h"

static td_status
send_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  for (uint32_t i = 0; i < node->n_outputs; i++)
    outputs[i] = td_tensor_ref(inputs[i]);
  return TD_OK;
}

static const td_node_class send_class = {.name = "SendRpcBackward", .apply = send_apply};

td_node *
td_dist_send_new(td_dist_context *context, td_tensor *const *sent, uint32_t n_sent) {
  td_node *send = td_node_new(&send_class, sizeof *send, sent, n_sent);
  for (uint32_t i = 0; i < n_sent; i++)
    td_node_add_metadata(send, sent[i]);
  pthread_mutex_lock(&context->mutex);
  TD_GROW(context->sends, context->n_sends, context->sends_capacity);
  context->sends[context->n_sends++] = td_node_ref(send);
  pthread_mutex_unlock(&context->mutex);
  return send;
}

typedef struct receive_node {
  td_node node;
  td_dist_deliver deliver;
  void *data;
  void (*free_data)(void *data); /* or NULL */
} receive_node;

static td_status
receive_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  receive_node *self = (receive_node *)node;
  return self->deliver(self->data, inputs, node->n_inputs, error);
}

static void
receive_fini(td_node *node) {
  receive_node *self = (receive_node *)node;
  if (self->free_data) self->free_data(self->data);
}

static const td_node_class receive_class = {
    .name = "RecvRpcBackward", .apply = receive_apply, .fini = receive_fini};

td_node *
td_dist_receive_new(td_tensor *const *received, uint32_t n, td_dist_deliver deliver, void *data,
                    void (*free_data)(void *data)) {
  receive_node *self =
      (receive_node *)td_node_new_raw(&receive_class, sizeof *self, 0, td_sequence_nr_next());
  self->deliver = deliver;
  self->data = data;
  self->free_data = free_data;
  for (uint32_t i = 0; i < n; i++)
    td_node_add_input(&self->node, received[i]);
  return &self->node;
}

bool
td_dist_is_receive(const td_node *node) {
  return node->klass == &receive_class;
}
