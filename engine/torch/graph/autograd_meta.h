/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The autograd side of a tensor, PyTorch's AutogradMeta. For engine/torch/graph alone. */
#pragma once

#include "engine/torch/graph/hooks.h"
#include "engine/torch/graph/weak_tensor.h"

#include <pthread.h>

struct td_autograd_meta {
  _Atomic bool requires_grad; /* of a leaf; a thread may set it while another runs a pass */
  td_node *grad_fn;           /* (owned reference) or NULL for a leaf */
  uint32_t output_nr;
  pthread_mutex_t mutex; /* guards what follows */
  td_tensor *grad;       /* (owned reference) */
  td_node *accumulator;  /* (weak): cleared by the node's fini */
  char *name;            /* (owned) or NULL */
  td_hooks *hooks;       /* (owned) of a leaf, or NULL; made once */
  td_node *hooked;       /* (owned reference) of a view, and without separate_hooks: where its hooks
                            are, or NULL */
  uint32_t hooked_nr;    /* and of which of its inputs */
  td_hook *retained;     /* (owned reference) what td_retain_grad made, or NULL */
  td_weak_tensor *weak;  /* (owned reference) what that hook knows the tensor by, or NULL */
  td_node *held_accumulator; /* (owned reference) of a leaf that this is a copy of, or NULL */
};

/* td_autograd_meta_get returns a tensor's autograd side, made on first use: by the thread that made
 * the tensor, before it is shared. */
td_autograd_meta *td_autograd_meta_get(td_tensor *tensor);
