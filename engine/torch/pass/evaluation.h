/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One evaluation of a node, which three units carry out in turn. evaluate.h decides what is
 * captured and what runs. call_function.h calls the node's function and its hooks. scatter.h sends
 * the gradients on. An evaluation is on the stack of its thread; evaluations nest. Private to
 * engine/torch/pass. */
#pragma once

#include "engine/torch/pass/graph_task.h"

/* Most nodes have few inputs and outputs: room for those without an allocation. */
#define TD_FEW 8

/* The gradients of one evaluation. */
typedef struct td_evaluation {
  td_graph_task *graph_task;
  td_node *node;
  td_input_buffer *buffer; /* (borrowed) what came, or NULL; it holds the references of inputs */
  td_tensor **inputs, **outputs; /* outputs: (owned references) */
  unsigned *found;               /* per output, as anomaly.h */
  unsigned inputs_found;
  uint32_t n_inputs;
  td_tensor *few_inputs[TD_FEW], *few_outputs[TD_FEW];
  unsigned few_found[TD_FEW];
} td_evaluation;
