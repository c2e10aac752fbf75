/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reductions that are more than a sum: variance, norm, products; and running sums. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/plan.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/shape/view.h"

#include "engine/torch/graph/semantics.h"

#include <math.h>

static td_tensor *
sum_kept(td_calc *c, td_tensor *a, const td_plan *plan) {
  return plan->n_dims ? td_calc_sum_dims(c, a, plan->n_dims, plan->dims) : a;
}

static td_tensor *
mean_kept(td_calc *c, td_tensor *a, const td_plan *plan) {
  return SCALE(sum_kept(c, a, plan), 1.0 / (double)plan->count);
}

static td_tensor *
filled(td_calc *c, td_tensor *a, td_tensor *mask, double value) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_masked_fill(a, mask, value, &out, c->error);
  return td_calc_keep(c, out);
}

static td_tensor *
mean_beside(td_calc *c, td_tensor *a, const td_plan *plan) {
  td_tensor *out = NULL;
  if (c->status) return NULL;
  bool all = plan->result.n_dims == 0;
  c->status = all ? td_op_mean(a, &out, c->error)
                  : td_op_mean_dims(a, plan->n_dims, plan->dims, true, &out, c->error);
  return td_calc_keep(c, out);
}

/* The variance (or its root) of a tensor without history. */
static td_status
variance(td_tensor *self, const td_plan *plan, double divisor, bool root, td_tensor **out,
         td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *bare = td_calc_wide(c, self);
  td_tensor *centred = SUB(bare, mean_kept(c, bare, plan));
  td_tensor *sum = sum_kept(c, td_calc_real(c, MUL(centred, CONJ(centred))), plan);
  td_tensor *result = DIV(sum, NUMBER(sum, divisor));
  if (root) result = SQRT(result);
  result = td_calc_to(c, result, td_dtype_real(self->dtype));
  return td_op_own(td_calc_end(c, td_calc_reshape(c, result, &plan->result), out), out);
}

/* r = sum (x - mean x)^2 / d:  dx = dr 2 (x - mean x) / d */
static td_tensor *
var_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_plan_node *node = (td_plan_node *)op;
  td_tensor *self = SAVED(0), *kept = td_plan_restore(c, grad, &node->plan);
  td_tensor *centred = SUB(self, mean_beside(c, self, &node->plan));
  return MUL(SCALE(kept, 2 / node->number), centred);
}
static const td_op_class var_class = TD_CALC_CLASS("VarBackward0", var_calc);

/* r = sqrt var:  dvar = dr / 2r, 0 where r is */
static td_tensor *
std_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *result = SAVED(1), *slope = DIV(grad, SCALE(result, 2));
  return var_calc(c, op, filled(c, slope, td_calc_eq(c, result, NUMBER(grad, 0)), 0), which);
}
static const td_op_class std_class = TD_CALC_CLASS("StdBackward0", std_calc);

static td_status
spread(bool root, td_tensor *self, int n_dims, const int64_t *dims, double correction, bool keepdim,
       td_tensor **out, td_error *error) {
  td_plan plan;
  if (!td_dtype_is_differentiable(self->dtype))
    return td_error_set(error, td_op_no_such_dtype(),
                        "std and var only support floating point and complex dtypes");
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  double divisor = fmax(0, (double)plan.count - correction);
  TD_TRY(variance(self, &plan, divisor, root, out, error));
  td_plan_node *node = td_plan_begin(root ? &std_class : &var_class, self, &plan);
  if (!node) return TD_OK;
  node->number = divisor;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  if (root) td_op_save_result(&node->op, 1, *out);
  return TD_OK;
}

td_status
td_op_var(td_tensor *self, int n_dims, const int64_t *dims, double correction, bool keepdim,
          td_tensor **out, td_error *error) {
  return spread(false, self, n_dims, dims, correction, keepdim, out, error);
}

td_status
td_op_std(td_tensor *self, int n_dims, const int64_t *dims, double correction, bool keepdim,
          td_tensor **out, td_error *error) {
  return spread(true, self, n_dims, dims, correction, keepdim, out, error);
}

/* sum |x|^p ^ 1/p:  dx = dr sign(x) |x|^(p-1) / r^(p-1), where that is 0 / 0: 0 */
static td_tensor *
norm_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_plan_node *node = (td_plan_node *)op;
  const td_plan *plan = &node->plan;
  double p = node->number;
  td_tensor *self = SAVED(0), *kept = td_plan_restore(c, grad, plan), *zero = NUMBER(grad, 0);
  td_tensor *result = td_plan_restore(c, SAVED(1), plan);
  if (p == 0) return NULL;
  if (p == 1) return MUL(SGN(self), kept);
  td_tensor *is_zero = td_calc_eq(c, result, zero);
  if (p == 2) return MUL(kept, filled(c, DIV(self, result), is_zero, 0));
  if (isinf(p)) {
    td_tensor *here = td_calc_eq(c, ABS(self), result);
    return MUL(MUL(SGN(self), DIV(kept, sum_kept(c, here, plan))), here);
  }
  td_tensor *power = MUL(self, POWER(ABS(self), p - 2));
  if (p < 2) power = filled(c, power, td_calc_eq(c, self, zero), 0);
  return MUL(power, filled(c, DIV(kept, POWER(result, p - 1)), is_zero, 0));
}
static const td_op_class vector_norm_class = TD_CALC_CLASS("LinalgVectorNormBackward0", norm_calc);
static const td_op_class norm_class = TD_CALC_CLASS("NormBackward1", norm_calc);

/* Of a tensor without history. */
static td_status
norm_result(td_tensor *self, double p, const td_plan *plan, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *sizes = td_calc_wide(c, self), *result = NULL, *found = NULL;
  sizes = ABS(sizes);
  if (isinf(p)) {
    if (!c->status)
      c->status =
          (p > 0 ? td_op_amax : td_op_amin)(sizes, plan->n_dims, plan->dims, true, &found, error);
    result = td_calc_keep(c, found);
  } else if (p == 0) {
    result = td_calc_to(c, sum_kept(c, td_calc_ne(c, sizes, NUMBER(sizes, 0)), plan), sizes->dtype);
  } else {
    result = sum_kept(c, p == 1 ? sizes : POWER(sizes, p), plan);
    if (p != 1) result = p == 2 ? SQRT(result) : POWER(result, 1 / p);
  }
  result = td_calc_to(c, result, td_dtype_real(self->dtype));
  return td_op_own(td_calc_end(c, td_calc_reshape(c, result, &plan->result), out), out);
}

static td_status
norm(const td_op_class *klass, td_tensor *self, double p, int n_dims, const int64_t *dims,
     bool keepdim, td_tensor **out, td_error *error) {
  td_plan plan;
  if (!td_dtype_is_differentiable(self->dtype))
    return td_error_set(error, td_op_no_such_dtype(),
                        "linalg.vector_norm: Expected a floating point or complex tensor as input. "
                        "Got %s",
                        td_op_scalar_type(self->dtype));
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  TD_TRY(norm_result(self, p, &plan, out, error));
  td_plan_node *node = td_plan_begin(klass, self, &plan);
  if (!node) return TD_OK;
  node->number = p;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  td_op_save_result(&node->op, 1, *out);
  return TD_OK;
}

td_status
td_op_vector_norm(td_tensor *self, double p, int n_dims, const int64_t *dims, bool keepdim,
                  td_tensor **out, td_error *error) {
  return norm(&vector_norm_class, self, p, n_dims, dims, keepdim, out, error);
}

td_status
td_op_norm(td_tensor *self, double p, int n_dims, const int64_t *dims, bool keepdim,
           td_tensor **out, td_error *error) {
  const td_op_class *klass = td_policy(plain_names) ? &vector_norm_class : &norm_class;
  return norm(klass, self, p, n_dims, dims, keepdim, out, error);
}

td_status
td_op_old_norm(td_tensor *self, double p, int n_dims, const int64_t *dims, bool keepdim,
               td_tensor **out, td_error *error) {
  return norm(&norm_class, self, p, n_dims, dims, keepdim, out, error);
}

/* Lines along a dimension: each is read by step from x and written to y. */
#define FOR_LINES(out, self, dim, ...)                                                             \
  do {                                                                                             \
    td_walk walk;                                                                                  \
    bool scalar = (self)->n_dims == 0;                                                             \
    int64_t n = scalar ? 1 : (self)->sizes[dim], x_step = scalar ? 1 : (self)->strides[dim];       \
    int64_t y_step = scalar ? 1 : (out)->strides[dim];                                             \
    (void)y_step;                                                                                  \
    td_walk_init_lines(&walk, dim, 2, (const td_tensor *[]){out, self});                           \
    TD_DISPATCH_ALL((self)->dtype,                                                                 \
                    while (n > 0 && td_walk_row(&walk)) for (int64_t l = 0; l < walk.n; l++) {     \
                      T *y = (T *)walk.at[0] + l * walk.step[0];                                   \
                      const T *x = (const T *)walk.at[1] + l * walk.step[1];                       \
                      __VA_ARGS__                                                                  \
                    })                                                                             \
  } while (0)

typedef struct scan_node {
  td_op_node op;
  int dim;
} scan_node;

/* y_i = sum x_j over j <= i:  dx_j = sum dy_i over i >= j */
static td_tensor *
cumsum_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  int64_t dim = ((scan_node *)op)->dim;
  td_tensor *flipped = NULL, *sums = NULL, *back = NULL;
  if (grad->n_dims == 0) return grad;
  c->status = td_op_flip(grad, 1, &dim, &flipped, c->error);
  td_calc_keep(c, flipped);
  if (!c->status) c->status = td_op_cumsum(flipped, dim, &sums, c->error);
  td_calc_keep(c, sums);
  if (!c->status) c->status = td_op_flip(sums, 1, &dim, &back, c->error);
  return td_calc_keep(c, back);
}
static const td_op_class cumsum_class = TD_CALC_CLASS("CumsumBackward0", cumsum_calc);

/* Of sums and products. */
static td_dtype
sum_dtype(const td_tensor *self) {
  return td_dtype_is_differentiable(self->dtype) ? self->dtype : TD_INT64;
}

td_status
td_op_cumsum(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_LOCAL(cast);
  TD_TRY(td_op_want_dense(self, "cumsum", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  td_dtype dtype = sum_dtype(self);
  TD_TRY(td_kernel_cast(self, td_dtype_compute(dtype), &cast, error));
  TD_TRY(td_tensor_new(cast->dtype, cast->device, cast->n_dims, cast->sizes, out, error));
  FOR_LINES(
      *out, cast, at, T sum = 0; for (int64_t i = 0; i < n; i++) {
        sum += x[i * x_step];
        y[i * y_step] = sum;
      });
  TD_TRY(td_op_rounded(out, dtype, error));
  scan_node *node = td_op_begin(&cumsum_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->dim = at;
  td_op_end(&node->op, *out);
  return TD_OK;
}

/* y_i = prod x_j over j <= i:  dx_j = sum dy_i y_i over i >= j, divided by x_j */
static td_tensor *
cumprod_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *self = SAVED(0), *sums = cumsum_calc(c, op, MUL(CONJ(SAVED(1)), grad), which);
  return DIV(sums, CONJ(self));
}
static const td_op_class cumprod_class = TD_CALC_CLASS("CumprodBackward0", cumprod_calc);

td_status
td_op_cumprod(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_LOCAL(cast);
  TD_TRY(td_op_want_dense(self, "cumprod", error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  td_dtype dtype = sum_dtype(self);
  TD_TRY(td_kernel_cast(self, td_dtype_compute(dtype), &cast, error));
  TD_TRY(td_tensor_new(cast->dtype, cast->device, cast->n_dims, cast->sizes, out, error));
  FOR_LINES(
      *out, cast, at, T product = 1; for (int64_t i = 0; i < n; i++) {
        product *= x[i * x_step];
        y[i * y_step] = product;
      });
  TD_TRY(td_op_rounded(out, dtype, error));
  scan_node *node = td_op_begin(&cumprod_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->dim = at;
  td_op_save(&node->op, 0, self);
  td_op_end(&node->op, *out);
  td_op_save_result(&node->op, 1, *out);
  return TD_OK;
}

/* The product of all others of a line, without dividing. */
static td_status
products_of_others(td_tensor *self, int dim, td_tensor **out, td_error *error) {
  TD_LOCAL(wide);
  TD_TRY(td_op_widen(self, &wide, error));
  TD_TRY(td_tensor_new_like(wide, out, error));
  FOR_LINES(
      *out, wide, dim, T before = 1, after = 1; for (int64_t i = 0; i < n; i++) {
        y[i * y_step] = before;
        before *= x[i * x_step];
      } for (int64_t i = n - 1; i >= 0; i--) {
        y[i * y_step] *= after;
        after *= x[i * x_step];
      });
  return td_op_rounded(out, self->dtype, error);
}

static bool
has_zero(td_tensor *self) {
  for (int64_t i = 0; i < td_tensor_n_elements(self); i++)
    if (td_tensor_get_complex(self, i) == 0) return true;
  return false;
}

/* r = prod x:  dx_i = dr prod of the others. Only without zeros can it be differentiated again. */
static td_tensor *
prod_lines(td_calc *c, td_tensor *grad, td_tensor *self, td_tensor *result, int dim) {
  td_tensor *others = NULL;
  if (c->status) return NULL;
  if (!has_zero(self)) return MUL(grad, CONJ(DIV(result, self)));
  c->status = products_of_others(self, dim, &others, c->error);
  if (td_calc_keep(c, others)) td_op_end_once(others, TD_INPUTS(self));
  return MUL(grad, CONJ(others));
}

static td_tensor *
prod_dim_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  const td_plan *plan = &((td_plan_node *)op)->plan;
  td_tensor *result = td_plan_restore(c, SAVED(1), plan);
  return prod_lines(c, td_plan_restore(c, grad, plan), SAVED(0), result,
                    plan->n_dims ? (int)plan->dims[0] : 0);
}
static const td_op_class prod_dim_class = TD_CALC_CLASS("ProdBackward1", prod_dim_calc);

static td_tensor *
prod_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *self = SAVED(0);
  if (c->status) return NULL;
  td_sizes flat = {.n_dims = 1, .at = {td_tensor_n_elements(self)}}, sizes = td_op_sizes(self);
  return td_calc_reshape(c, prod_lines(c, grad, td_calc_reshape(c, self, &flat), SAVED(1), 0),
                         &sizes);
}
static const td_op_class prod_class = TD_CALC_CLASS("ProdBackward0", prod_calc);

/* Of a line: the sizes as kept. */
static void
prod_kernel(td_tensor *kept, td_tensor *self, int dim) {
  FOR_LINES(kept, self, dim, T product = 1;
            for (int64_t i = 0; i < n; i++) product *= x[i * x_step]; *y = product;);
}

static td_status
prod_result(td_tensor *self, const td_plan *plan, int dim, td_tensor **out, td_error *error) {
  TD_LOCAL(cast);
  TD_LOCAL(kept);
  TD_TRY(td_op_want_dense(self, "prod", error));
  td_dtype dtype = sum_dtype(self);
  TD_TRY(td_kernel_cast(self, td_dtype_compute(dtype), &cast, error));
  TD_TRY(td_plan_tensor(plan, cast->dtype, cast->device, out, &kept, error));
  td_kernel_fill(*out, 1);
  prod_kernel(kept, cast, dim);
  return td_op_rounded(out, dtype, error);
}

static td_status
prod(const td_op_class *klass, td_tensor *self, td_tensor *lines, const int64_t *dim, bool keepdim,
     td_tensor **out, td_error *error) {
  td_plan plan;
  TD_TRY(td_plan_init(&plan, lines, dim ? 1 : 0, dim, keepdim, error));
  TD_TRY(prod_result(lines, &plan, plan.n_dims ? (int)plan.dims[0] : 0, out, error));
  td_plan_end_saving(klass, self, &plan, *out);
  return TD_OK;
}

td_status
td_op_prod(td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(flat);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_reshape(bare, 1, (int64_t[]){-1}, &flat, error));
  return prod(&prod_class, self, flat, (int64_t[]){0}, false, out, error);
}

td_status
td_op_prod_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out, td_error *error) {
  return prod(&prod_dim_class, self, self, &dim, keepdim, out, error);
}
