/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/indexing/picked.h"

#include "engine/torch/ops/indexing/indexing.h"
#include "engine/torch/ops/shape/view.h"

typedef struct picked_node {
  td_op_node op;
  td_input_metadata self;
  int dim;
  bool keepdim;
} picked_node;

typedef td_status (*scatter)(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *src,
                             td_tensor **out, td_error *error);

/* dx = dr where it was picked from, else 0 */
static td_tensor *
scattered(td_calc *c, td_op_node *op, td_tensor *grad, scatter scatter) {
  picked_node *node = (picked_node *)op;
  td_tensor *indices = SAVED(0), *zeros = NULL, *out = NULL;
  if (!node->keepdim && node->self.n_dims) {
    grad = td_calc_unsqueeze(c, grad, node->dim);
    indices = td_calc_unsqueeze(c, indices, node->dim);
  }
  if (c->status) return NULL;
  c->status = td_tensor_new(grad->dtype, grad->device, node->self.n_dims, node->self.sizes, &zeros,
                            c->error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = scatter(zeros, node->dim, indices, grad, &out, c->error);
  return td_calc_keep(c, out);
}

td_tensor *
td_picked_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return scattered(c, op, grad, td_op_scatter);
}

td_tensor *
td_picked_sum_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return scattered(c, op, grad, td_op_scatter_add);
}

/* Without the dimension, if it is not kept. */
static td_status
finish(td_tensor **kept, int at, bool squeezes, td_tensor **out, td_error *error) {
  if (squeezes) return td_op_own(td_op_squeeze_dim(*kept, at, out, error), out);
  *out = td_tensor_ref(*kept);
  return TD_OK;
}

td_status
td_picked_end(const td_op_class *klass, td_tensor *self, int at, bool keepdim, td_tensor *found,
              td_tensor **values, td_tensor **indices, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(kept);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_gather(bare, at, found, false, &kept, error));
  TD_TRY(finish(&kept, at, !keepdim && self->n_dims > 0, values, error));
  td_status status = finish(&found, at, !keepdim && self->n_dims > 0, indices, error);
  if (status) td_tensor_unref(*values);
  if (status) return status;
  picked_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->self = td_op_metadata(self);
  node->dim = at;
  node->keepdim = keepdim;
  td_op_save(&node->op, 0, *indices);
  td_op_end(&node->op, *values);
  return TD_OK;
}
