/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hands the operations that engine/torch/graph needs down to it, when the program is loaded. No
 * other file refers to this one: engine/meson.build links it into every program that has the
 * engine. */
#include "engine/torch/graph/differentiable.h"

#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/ops/shape/as_strided.h"
#include "engine/torch/ops/shape/copy_slices.h"
#include "engine/torch/ops/shape/shape.h"

/* Of a dense and a sparse tensor the dense one has to come first. */
static td_status
add(td_tensor *a, td_tensor *b, td_tensor **out, td_error *error) {
  bool swap = a->sparse && !b->sparse;
  return td_op_add(swap ? b : a, swap ? a : b, 1, out, error);
}

__attribute__((constructor)) static void
hand_down(void) {
  td_differentiable_set((td_differentiable){.add = add,
                                            .clone = td_op_clone,
                                            .copy_into = td_op_copy_into,
                                            .real = td_op_real,
                                            .sum_to = td_op_sum_to,
                                            .to = td_op_to,
                                            .as_strided = td_as_strided_node,
                                            .copy_slices = td_copy_slices_node});
}
