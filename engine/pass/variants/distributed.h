/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Distributed backward passes, as far as they go without a network: the part of PyTorch's
 * distributed engine that is local to one worker. A context is one backward pass over several
 * workers, as one of them sees it. Its graph begins at roots, and at send functions, whose
 * gradients other workers deliver one by one; it ends at leaves, whose gradients go into the
 * context and not into .grad, and at receive functions, which would send them on: here they call a
 * function.
 *
 * Note [Distributed passes]
 * A send function is waited for before its gradient is known, so it is counted as outstanding when
 * the context is prepared, and its push does not count again. Each delivery runs on the thread that
 * brings it, from a ready queue of its own, until that is empty; what a device thread hands back to
 * the CPU goes to a global queue, whose thread starts a new one for it. All are for one graph task,
 * which ends at the first error, whatever is outstanding. */
#pragma once

#include "engine/graph/node.h"

typedef struct td_dist_context td_dist_context;

/* td_dist_context_new makes the context of one pass on the worker of that number. */
td_dist_context *td_dist_context_new(int64_t worker_id);
td_dist_context *td_dist_context_ref(td_dist_context *context);
void td_dist_context_unref(td_dist_context *context);

/* td_dist_send_new makes a send function, and adds it to the context (new reference): what was sent
 * are forward values, one edge for each. Before the context runs. */
td_node *td_dist_send_new(td_dist_context *context, td_tensor *const *sent, uint32_t n_sent);

/* td_dist_receive_new makes a receive function that calls deliver with the gradients [n] of what
 * was received, on whatever thread the pass runs, and gives it to the received tensors as history.
 */
typedef td_status (*td_dist_deliver)(void *data, td_tensor *const *gradients, uint32_t n,
                                     td_error *error);
td_node *td_dist_receive_new(td_tensor *const *received, uint32_t n, td_dist_deliver deliver,
                             void *data);

/* td_dist_execute runs the pass from its roots, on the worker that began it, and returns when all
 * is done, the send functions' gradients delivered and handled too. td_dist_execute_send delivers
 * the gradients of one send function (owned by the caller, NULL: undefined) and works for the pass
 * until it has no more to do itself. Any thread. TD_AUTOGRAD with PyTorch's texts for roots that
 * cannot be; errors of the pass begin with "Error on Node <worker>: ". */
td_status td_dist_execute(td_dist_context *context, td_tensor *const *roots, uint32_t n_roots,
                          bool retain_graph, td_error *error);
td_status td_dist_execute_send(td_dist_context *context, td_node *send, td_tensor *const *gradients,
                               bool retain_graph, td_error *error);

/* td_dist_gradient returns what the context has of a leaf's gradient, a new reference, or NULL. */
td_tensor *td_dist_gradient(td_dist_context *context, const td_tensor *leaf);
