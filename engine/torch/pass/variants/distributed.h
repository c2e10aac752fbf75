/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Distributed backward passes without a network: the part of PyTorch's distributed engine that is
 * local to one worker. Its graph begins at roots and at send functions. Other workers deliver the
 * gradients of send functions, one by one. The graph ends at leaves and at receive functions. The
 * context gets the gradients of leaves, not .grad. A receive function hands its gradients on.
 *
 * From Python: torch.distributed.autograd and torch.distributed.rpc with a world of one worker,
 * which sends to itself (td_dist_loop_back).
 *
 * Note [Distributed passes]
 * A pass must not end before each send function has its gradient. So a send function counts as
 * outstanding when the context is prepared, and its push does not count again. Each delivery runs
 * on the thread that brings it, from a ready queue of its own, until that queue is empty. What a
 * device thread hands back to the CPU goes to a global queue, whose thread starts a new one for it.
 * All deliveries work for one graph task. It ends at the first error, whatever is outstanding. */
#pragma once

#include "engine/torch/pass/variants/distributed_nodes.h"

/* td_dist_execute runs the pass from its roots, on the worker that began it. It returns when all is
 * done, including what the gradients of send functions start. TD_AUTOGRAD with PyTorch's texts for
 * roots that cannot be. Errors of the pass begin with "Error on Node <worker>: ". */
td_status td_dist_execute(td_dist_context *context, td_tensor *const *roots, uint32_t n_roots,
                          bool retain_graph, td_error *error);

/* td_dist_execute_send delivers the gradients of one send function (owned by the caller, NULL:
 * undefined). Then it works for the pass until it has no more to do itself. Any thread. */
td_status td_dist_execute_send(td_dist_context *context, td_node *send, td_tensor *const *gradients,
                               bool retain_graph, td_error *error);

/* td_dist_loop_back sends values from a worker to itself: `received` are copies of `sent` that have
 * no history yet. The gradients of the copies go to a send function of the values, on the thread
 * that runs the receive function. An undefined gradient becomes zeros, as in PyTorch. After the
 * context's release the receive function fails. */
void td_dist_loop_back(td_dist_context *context, td_tensor *const *sent, td_tensor *const *received,
                       uint32_t n);
