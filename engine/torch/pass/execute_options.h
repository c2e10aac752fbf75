/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the caller of a backward pass asks for. */
#pragma once

#include "engine/torch/graph/edge.h"

#include <stdbool.h>

typedef struct td_execute_options {
  bool keep_graph, create_graph, accumulate_grad;
  const td_edge *outputs; /* gradients wanted there alone (borrowed nodes), or NULL: everywhere */
  uint32_t n_outputs;
} td_execute_options;
