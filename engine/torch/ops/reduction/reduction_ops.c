/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reductions that are expressions: reduction.def is expanded into a value, a formula, a class and
 * an operation per row. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/plan.h"
#include "engine/torch/ops/shape/view.h"

#include <math.h>

typedef enum reduction_kept { SELF, RESULT } reduction_kept;
typedef enum reduction_dtypes { INTEGRAL, FLOATING } reduction_dtypes;

typedef struct reduction_row {
  const char *name;
  reduction_kept kept;
  reduction_dtypes dtypes;
  td_tensor *(*value)(td_calc *c, td_tensor *x, const td_plan *plan);
} reduction_row;

static td_tensor *
sum_kept(td_calc *c, td_tensor *a, const td_plan *plan) {
  return plan->n_dims ? td_calc_sum_dims(c, a, plan->n_dims, plan->dims) : a;
}

/* The largest is taken out of the sum, unless it is infinite. */
static td_tensor *
log_sum_exp(td_calc *c, td_tensor *x, const td_plan *plan) {
  td_tensor *largest = NULL;
  if (!c->status) c->status = td_op_amax(x, plan->n_dims, plan->dims, true, &largest, c->error);
  td_calc_keep(c, largest);
  td_tensor *infinite = td_calc_eq(c, ABS(largest), NUMBER(x, INFINITY));
  largest = WHERE(infinite, NUMBER(x, 0), largest);
  return ADD(LOG(sum_kept(c, EXP(SUB(x, largest)), plan)), largest);
}

#define SUM(a) sum_kept(c, a, plan)
#define TD_REDUCTION(name, node_name, dims_, kept_, dtypes_, value_, gradient)                     \
  static td_tensor *name##_value(td_calc *c, td_tensor *x, const td_plan *plan) {                  \
    return value_;                                                                                 \
  }                                                                                                \
  static td_tensor *name##_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {     \
    const td_plan *plan = &((td_plan_node *)op)->plan;                                             \
    td_tensor *x = SAVED(0), *g = td_plan_restore(c, grad, plan);                                  \
    td_tensor *r = kept_ == RESULT ? td_plan_restore(c, SAVED(1), plan) : NULL;                    \
    (void)x, (void)r;                                                                              \
    return gradient;                                                                               \
  }
#include "engine/torch/ops/reduction/reduction.def"
#undef TD_REDUCTION

static td_status
reduced(const reduction_row *row, td_tensor *self, const td_plan *plan, td_tensor **out,
        td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *x = td_calc_wide(c, self);
  td_dtype dtype = td_op_float_dtype(self->dtype);
  if (row->dtypes == FLOATING) x = td_calc_to(c, x, td_dtype_compute(dtype));
  td_tensor *result = row->value(c, x, plan);
  if (td_dtype_is_half(dtype)) result = td_calc_to(c, result, dtype);
  return td_op_own(td_calc_end(c, td_calc_reshape(c, result, &plan->result), out), out);
}

static td_status
reduction(const td_op_class *klass, const reduction_row *row, td_tensor *self, int n_dims,
          const int64_t *dims, bool keepdim, td_tensor **out, td_error *error) {
  td_plan plan;
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  TD_TRY(td_op_want_dense(self, row->name, error));
  TD_TRY(td_op_check_dtype(row->name, self->dtype, error));
  TD_TRY(td_op_want_real(self, row->name, error));
  TD_TRY(reduced(row, self, &plan, out, error));
  td_plan_node *node = td_plan_begin(klass, self, &plan);
  if (!node) return TD_OK;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  if (row->kept == RESULT) td_op_save_result(&node->op, 1, *out);
  return TD_OK;
}

#define TD_REDUCTION(name_, node_name, n_dims_, kept_, dtypes_, value_, gradient)                  \
  static const td_op_class name_##_class = TD_CALC_CLASS(node_name, name_##_calc);                 \
  static const reduction_row name_##_row = {                                                       \
      .name = #name_, .kept = kept_, .dtypes = dtypes_, .value = name_##_value};                   \
  td_status td_op_##name_(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim,          \
                          td_tensor **out, td_error *error) {                                      \
    return reduction(&name_##_class, &name_##_row, self, n_dims, dims, keepdim, out, error);       \
  }
#include "engine/torch/ops/reduction/reduction.def"
#undef TD_REDUCTION
