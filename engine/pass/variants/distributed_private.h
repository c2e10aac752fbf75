/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the two sources of distributed passes share. Private to engine/pass. */
#pragma once

#include "engine/pass/graph_task.h"
#include "engine/pass/variants/distributed.h"

typedef struct td_dist_sum {
  td_tensor *leaf, *sum; /* (owned references) */
} td_dist_sum;

struct td_dist_context {
  td_refcount refs;
  int64_t worker_id;
  pthread_mutex_t mutex;     /* guards graph_task until it is there, and gradients */
  td_graph_task *graph_task; /* (owned reference) once prepared */
  td_node *root, *dummy;     /* (owned references) of the pass; above it and the send functions */
  td_node **sends;           /* (owned references) */
  size_t n_sends, sends_capacity;
  td_dist_sum *gradients; /* (owned) few */
  size_t n_gradients, gradients_capacity;
};

/* td_dist_accumulate adds a gradient (borrowed) to what the context has of a leaf. */
td_status td_dist_accumulate(td_dist_context *context, td_tensor *leaf, td_tensor *gradient,
                             td_error *error);

/* td_dist_global_queue returns the queue that device threads hand CPU nodes of distributed passes
 * to (borrowed, for ever). Its thread is started with it. */
td_ready_queue *td_dist_global_queue(void);

/* td_dist_run runs a node of a pass, with its buffer (taken, or NULL), and what becomes ready on
 * the CPU by that, on the calling thread, from a queue of its own, until that is empty or a node
 * fails. */
void td_dist_run(td_graph_task *graph_task, td_node *node, td_input_buffer *buffer,
                 bool is_counted);
