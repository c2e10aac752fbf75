/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The operations that the engine itself performs on gradients under create_graph, and the nodes of
 * views that were written into. They must leave history, so they are operations like any other. But
 * operations lie above the engine, so engine/torch/ops hands them down while it loads. Without
 * engine/torch/ops, as in a test of the engine alone, gradients have no history, and nothing is
 * written in place. */
#pragma once

#include "engine/torch/graph/edge.h"
#include "engine/torch/tensor/tensor.h"

typedef struct td_differentiable {
  td_status (*add)(td_tensor *a, td_tensor *b, td_tensor **out, td_error *error);
  td_status (*clone)(td_tensor *tensor, td_tensor **out, td_error *error);
  td_status (*copy_into)(td_tensor *tensor, td_tensor *source, td_error *error);
  /* real takes the real part; of real numbers, all. */
  td_status (*real)(td_tensor *tensor, td_tensor **out, td_error *error);
  /* sum_to sums down to the sizes that were broadcast; to is a cast and a move. */
  td_status (*sum_to)(td_tensor *tensor, int n_dims, const int64_t *sizes, td_tensor **out,
                      td_error *error);
  td_status (*to)(td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
                  td_error *error);

  /* as_strided makes the node of a view of `base`. copy_slices makes the node of a base after `fn`
   * (borrowed) was applied in place to a view of it. The caller adds the metadata of their input.
   */
  td_node *(*as_strided)(td_tensor *base, const td_tensor *view);
  td_node *(*copy_slices)(td_tensor *base, const td_tensor *view, td_node *fn);
} td_differentiable;

/* td_differentiable_set is for engine/torch/ops alone, before any pass; td_differentiable_get is
 * never NULL. */
void td_differentiable_set(td_differentiable operations);
const td_differentiable *td_differentiable_get(void);
