/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A number in slices of a dimension. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"

typedef struct fill_node {
  td_op_node op;
  int dim;
} fill_node;

/* r = self, but a number in slices:  dself = dr, but 0 there */
static td_tensor *
index_fill_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *index = SAVED(0), *out = NULL;
  if (!c->status)
    c->status = td_op_index_fill(grad, ((fill_node *)op)->dim, index, 0, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class index_fill_class = TD_CALC_CLASS("IndexFillBackward0", index_fill_calc);

/* Writes the number into `into`, as self[:, ..., index] = value does. */
static td_status
fill_slices(td_tensor *into, int dim, td_tensor *index, double value, td_error *error) {
  TD_LOCAL(number);
  td_tensor *indices[TD_MAX_DIMS] = {NULL};
  TD_TRY(td_tensor_new(into->dtype, into->device, 0, NULL, &number, error));
  td_kernel_fill(number, value);
  indices[dim] = index;
  return td_index_write(into, (uint32_t)dim + 1, indices, number, false, error);
}

td_status
td_op_index_fill(td_tensor *self, int64_t dim, td_tensor *index, double value, td_tensor **out,
                 td_error *error) {
  int at;
  TD_LOCAL(bare);
  TD_LOCAL(made);
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (index->n_dims > 1)
    return td_error_set(error, TD_OUT_OF_RANGE, "Index has to be a vector/scalar");
  if (index->dtype != TD_INT64)
    return td_error_set(error, TD_OUT_OF_RANGE, "index_fill_(): Expected dtype int64 for index.");
  bare = td_tensor_detach(self);
  TD_TRY(td_op_clone(bare, &made, error));
  TD_TRY(fill_slices(made, at, index, value, error));
  *out = TD_TAKE(made);
  fill_node *node = td_op_begin(&index_fill_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->dim = at;
  td_op_save(&node->op, 0, index);
  td_op_end(&node->op, *out);
  return TD_OK;
}
