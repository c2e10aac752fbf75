/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Send and receive functions: where a graph that spans several workers leaves one of them. */
#pragma once

#include "engine/torch/pass/variants/distributed_context.h"

/* td_dist_send_new makes a send function, and adds it to the context (new reference). `sent` are
 * forward values; each gets an edge. Call it before the context runs. */
td_node *td_dist_send_new(td_dist_context *context, td_tensor *const *sent, uint32_t n_sent);

/* A function that takes the gradients [n] of received values (borrowed; NULL: undefined), on
 * whatever thread the pass runs. */
typedef td_status (*td_dist_deliver)(void *data, td_tensor *const *gradients, uint32_t n,
                                     td_error *error);

/* td_dist_receive_new makes a receive function that calls `deliver`. The received tensors get it as
 * history. `free_data` frees data with the node, unless it is NULL. */
td_node *td_dist_receive_new(td_tensor *const *received, uint32_t n, td_dist_deliver deliver,
                             void *data, void (*free_data)(void *data));

bool td_dist_is_receive(const td_node *node);
