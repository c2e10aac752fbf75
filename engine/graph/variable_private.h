/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The autograd side of a tensor, for engine/graph alone. */
#pragma once

#include "engine/graph/hooks.h"

struct td_autograd_meta {
  bool requires_grad; /* of a leaf */
  td_node *grad_fn;   /* (owned reference) or NULL for a leaf */
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
  td_node *held_accumulator; /* (owned reference) of a leaf that this is a copy of, or NULL */
};

/* td_forget_history makes a tensor a leaf that requires no grad. */
void td_forget_history(td_tensor *tensor);

/* td_variable_set_accumulator makes a new tensor a stand-in for a leaf: gradients go to the leaf's
 * AccumulateGrad. Takes a reference. */
void td_variable_set_accumulator(td_tensor *tensor, td_node *accumulator);

/* td_variable_forget_accumulator is what a dying AccumulateGrad tells its leaf. */
void td_variable_forget_accumulator(td_tensor *leaf, td_node *node);

/* td_tensor_hooks_renew lets later hooks of a view that was written through be on its new node. */
void td_tensor_hooks_renew(td_tensor *tensor);

/* td_autograd_meta_get returns a tensor's autograd side, made on first use: by the thread that made
 * the tensor, before it is shared. */
td_autograd_meta *td_autograd_meta_get(td_tensor *tensor);

/* td_tensor_hooks_fini drops what tensor_hooks.h hung on a tensor. */
void td_tensor_hooks_fini(td_autograd_meta *meta);
