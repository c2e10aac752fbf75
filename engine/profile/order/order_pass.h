/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `order` says of an outermost pass. Any thread. */
#pragma once

#include "engine/profile/order/order_cause.h"

typedef struct td_order_divergence {
  uint64_t seq;               /* of the pop */
  uint32_t position;          /* how many nodes the pass had popped before */
  uint32_t queue, thread;     /* of the pop */
  uint32_t predicted, popped; /* nodes; predicted: TD_NONE if no more were */
  td_order_cause cause;
  char *predicted_name, *popped_name, *queue_name, *text; /* (owned) or NULL: not explained */
} td_order_divergence;

typedef struct td_order_pass {
  uint32_t graph_task, status; /* a task_status; running if the tape has no end of it */
  uint32_t n_popped, n_predicted;
  bool is_equal; /* what was popped is as predicted, though it may have ended early */
  uint32_t *popped, *predicted;   /* (owned) nodes [n_popped] and [n_predicted], if they are kept */
  td_order_divergence divergence; /* unless it is equal */
} td_order_pass;
