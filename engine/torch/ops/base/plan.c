/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/base/plan.h"

static td_status
mark_dims(const td_tensor *self, int n_dims, const int64_t *dims, bool *reduced, td_error *error) {
  for (int dim = 0; dim < TD_MAX_DIMS; dim++)
    reduced[dim] = n_dims == 0;
  for (int i = 0; i < n_dims; i++) {
    int dim;
    TD_TRY(td_op_wrap_dim(dims[i], self->n_dims, &dim, error));
    if (reduced[dim])
      return td_error_set(error, TD_INVALID, "dim %d appears multiple times in the list of dims",
                          dim);
    reduced[dim] = true;
  }
  return TD_OK;
}

td_status
td_plan_init(td_plan *plan, const td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,
             td_error *error) {
  bool reduced[TD_MAX_DIMS];
  TD_TRY(mark_dims(self, n_dims, dims, reduced, error));
  *plan = (td_plan){.kept.n_dims = self->n_dims, .count = 1};
  for (int dim = 0; dim < self->n_dims; dim++) {
    plan->kept.at[dim] = reduced[dim] ? 1 : self->sizes[dim];
    if (reduced[dim]) {
      plan->dims[plan->n_dims++] = dim;
      plan->count *= self->sizes[dim];
    }
    if (!reduced[dim] || keepdim) plan->result.at[plan->result.n_dims++] = plan->kept.at[dim];
  }
  return TD_OK;
}

/* A view of a contiguous tensor with other sizes of as many elements. */
static td_tensor *
view_contiguous(const td_tensor *tensor, const td_sizes *sizes) {
  int64_t strides[TD_MAX_DIMS], stride = 1;
  for (int dim = sizes->n_dims - 1; dim >= 0; stride *= sizes->at[dim--])
    strides[dim] = stride;
  return td_tensor_new_view(tensor, sizes->n_dims, sizes->at, strides, tensor->offset);
}

td_status
td_plan_tensor(const td_plan *plan, td_dtype dtype, td_device device, td_tensor **out,
               td_tensor **kept, td_error *error) {
  TD_TRY(td_tensor_new(dtype, device, plan->result.n_dims, plan->result.at, out, error));
  *kept = view_contiguous(*out, &plan->kept);
  return TD_OK;
}

td_tensor *
td_plan_restore(td_calc *c, td_tensor *a, const td_plan *plan) {
  if (c->status || a->n_dims == 0 || a->n_dims == plan->kept.n_dims) return a;
  for (int i = 0; i < plan->n_dims; i++)
    a = td_calc_unsqueeze(c, a, plan->dims[i]);
  return a;
}

td_plan_node *
td_plan_begin(const td_op_class *klass, td_tensor *self, const td_plan *plan) {
  td_plan_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return NULL;
  node->plan = *plan;
  node->self = td_op_metadata(self);
  return node;
}

void
td_plan_end_saving(const td_op_class *klass, td_tensor *self, const td_plan *plan,
                   td_tensor *result) {
  td_plan_node *node = td_plan_begin(klass, self, plan);
  if (!node) return;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, result);
  td_op_save_result(&node->op, 1, result);
}
