/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The autograd side of a tensor, for engine/autograd alone. */
#pragma once

#include "engine/autograd/node.h"

struct td_autograd_meta {
  bool requires_grad; /* of a leaf */
  td_node *grad_fn;   /* (owned reference) or NULL for a leaf */
  uint32_t output_nr;
  pthread_mutex_t mutex; /* guards what follows */
  td_tensor *grad;       /* (owned reference) */
  td_node *accumulator;  /* (weak): cleared by the node's fini */
  char *name;            /* (owned) or NULL */
};

/* td_variable_forget_accumulator is what a dying AccumulateGrad tells its leaf. */
void td_variable_forget_accumulator(td_tensor *leaf, td_node *node);
