/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A context of distributed passes: what one worker knows of a pass over several workers. Any
 * thread. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* A leaf and the sum of its gradients. */
typedef struct td_dist_sum {
  td_tensor *leaf, *sum; /* (owned references) */
} td_dist_sum;

typedef struct td_dist_context {
  td_refcount refs;
  int64_t id, worker_id;
  pthread_mutex_t mutex;     /* guards what follows */
  bool is_released;          /* no pass begins any more */
  td_graph_task *graph_task; /* (owned reference) once prepared, until the pass is over */
  td_node *root, *dummy;     /* (owned references) of the pass; above it and the send functions */
  td_node **sends;           /* (owned references) */
  size_t n_sends, sends_capacity;
  td_dist_sum *gradients; /* (owned) few */
  size_t n_gradients, gradients_capacity;
} td_dist_context;

/* td_dist_context_new makes the context of that number, on the worker of that number. */
td_dist_context *td_dist_context_new(int64_t id, int64_t worker_id);
td_dist_context *td_dist_context_ref(td_dist_context *context);
void td_dist_context_unref(td_dist_context *context);

/* td_dist_context_end_pass forgets the pass that is over; the context can run another one. It keeps
 * its gradients and send functions. Does nothing if no pass began. After an error, other threads
 * may still work for the pass: they hold its graph task, which holds the context. */
void td_dist_context_end_pass(td_dist_context *context);

/* td_dist_context_release says that nobody will use the context: it ends the pass and forgets the
 * send functions. Without it, the pass and the graph above the send functions hold the context for
 * ever. */
void td_dist_context_release(td_dist_context *context);

/* td_dist_accumulate adds a gradient (borrowed) to the sum of a leaf. */
td_status td_dist_accumulate(td_dist_context *context, td_tensor *leaf, td_tensor *gradient,
                             td_error *error);

/* td_dist_gradient returns the sum of a leaf's gradients, a new reference, or NULL. */
td_tensor *td_dist_gradient(td_dist_context *context, const td_tensor *leaf);

/* td_dist_gradients copies the sums of all leaves, in the order of their first gradients. The
 * caller owns the array and its references. */
td_dist_sum *td_dist_gradients(td_dist_context *context, size_t *n);
