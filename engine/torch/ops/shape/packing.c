/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Padded sequences, packed: rows of [time, batch, ...] that are there, one below the other. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"

typedef struct packing_node {
  td_op_node op;
  td_sizes sizes; /* of the padded tensor */
} packing_node;

/* [time, batch, ...] as [time batch, ...] */
static td_sizes
row_sizes(const td_sizes *sizes) {
  td_sizes rows = {.n_dims = sizes->n_dims - 1};
  rows.at[0] = sizes->at[0] * sizes->at[1];
  memcpy(rows.at + 1, sizes->at + 2, (size_t)(sizes->n_dims - 2) * sizeof *rows.at);
  return rows;
}

/* The rows go back to where they were; the padding gets zeros. */
static td_tensor *
packing_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  const td_sizes *sizes = &((packing_node *)op)->sizes, rows = row_sizes(sizes);
  td_tensor *zeros = NULL, *sum = NULL, *index = SAVED(0);
  if (!c->status)
    c->status = td_tensor_new(grad->dtype, grad->device, rows.n_dims, rows.at, &zeros, c->error);
  td_calc_keep(c, zeros);
  if (!c->status) c->status = td_op_index_add(zeros, 0, index, grad, &sum, c->error);
  return td_calc_reshape(c, td_calc_keep(c, sum), sizes);
}
static const td_op_class packing_class = TD_CALC_CLASS("PackPaddedSequenceBackward0", packing_calc);

td_status
td_op_pack_padded(td_tensor *self, td_tensor *index, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_sizes sizes = td_op_sizes(self), rows = row_sizes(&sizes);
  td_tensor *flat = td_calc_reshape(c, td_calc_bare(c, self), &rows), *packed = NULL;
  if (!c->status) c->status = td_op_index_select(flat, 0, index, &packed, error);
  TD_TRY(td_calc_end(c, td_calc_keep(c, packed), out));
  packing_node *node = td_op_begin(&packing_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->sizes = sizes;
  td_op_save(&node->op, 0, index);
  td_op_end(&node->op, *out);
  return TD_OK;
}
