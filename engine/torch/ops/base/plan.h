/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a reduction over some dimensions does to sizes. Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/calc.h"

typedef struct td_plan {
  int n_dims;
  int64_t dims[TD_MAX_DIMS]; /* [n_dims] the reduced ones, in order */
  td_sizes kept;             /* sizes with the reduced dimensions as 1 */
  td_sizes result;           /* kept, or without them */
  int64_t count;             /* how many elements one element of the result is made of */
} td_plan;

/* td_plan_init plans a reduction over `dims` (n_dims 0: all), which may be negative.
 * TD_OUT_OF_RANGE; TD_INVALID if a dimension occurs twice. */
td_status td_plan_init(td_plan *plan, const td_tensor *self, int n_dims, const int64_t *dims,
                       bool keepdim, td_error *error);

/* td_plan_tensor makes the result, zeroed, and a view of it in the kept sizes. */
td_status td_plan_tensor(const td_plan *plan, td_dtype dtype, td_device device, td_tensor **out,
                         td_tensor **kept, td_error *error);

/* td_plan_restore puts what a reduction gave, or its gradient, beside the input: the dimensions
 * come back one by one. One number needs none. */
td_tensor *td_plan_restore(td_calc *c, td_tensor *a, const td_plan *plan);

/* Every node of a reduction begins so. */
typedef struct td_plan_node {
  td_op_node op;
  td_plan plan;
  td_input_metadata self;
  double number; /* the class's own: a norm's order, a variance's divisor */
} td_plan_node;

/* td_plan_begin is td_op_begin for one input. */
td_plan_node *td_plan_begin(const td_op_class *klass, td_tensor *self, const td_plan *plan);

/* td_plan_end_saving gives a result its node, if it needs one. The node saves the input as number 0
 * and the result as number 1. */
void td_plan_end_saving(const td_op_class *klass, td_tensor *self, const td_plan *plan,
                        td_tensor *result);
