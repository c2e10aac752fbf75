/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The largest and the smallest element, and where they are. A NaN is more extreme than anything. */
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/plan.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/indexing/picked.h"
#include "engine/torch/ops/reduction/sort.h"
#include "engine/torch/ops/shape/view.h"

#include <math.h>

/* Where `self` is the extreme value; equal NaNs: where it is one. */
static td_tensor *
equals(td_calc *c, td_tensor *self, td_tensor *extreme) {
  td_tensor *same = td_calc_eq(c, self, extreme);
  if (c->status || !td_dtype_is_floating(self->dtype)) return same;
  td_tensor *both = MUL(td_calc_isnan(c, self), td_calc_isnan(c, extreme));
  return td_calc_to(c, ADD(same, both), TD_BOOL);
}

/* r = extreme x:  dx = dr / n at the n elements equal to r */
static td_tensor *
amax_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  const td_plan *plan = &((td_plan_node *)op)->plan;
  td_tensor *result = td_calc_reshape(c, SAVED(1), &plan->kept);
  td_tensor *mask = equals(c, SAVED(0), result);
  td_tensor *n = plan->n_dims ? td_calc_sum_dims(c, mask, plan->n_dims, plan->dims) : mask;
  td_tensor *share = DIV(td_calc_reshape(c, grad, &plan->kept), n);
  return WHERE(mask, share, NUMBER(grad, 0));
}
static const td_op_class max_class = TD_CALC_CLASS("MaxBackward1", amax_calc);
static const td_op_class min_class = TD_CALC_CLASS("MinBackward1", amax_calc);
static const td_op_class amax_class = TD_CALC_CLASS("AmaxBackward0", amax_calc);
static const td_op_class amin_class = TD_CALC_CLASS("AminBackward0", amax_calc);

/* Whether `now` takes the place of `record`. */
#define BEATS(now, record)                                                                         \
  ((largest ? (now) > (record) : (now) < (record)) || ((now) != (now) && (record) == (record)))

/* dst holds some element of each group; sizes as of td_kernel_sum_into. */
static void
extreme_into(td_tensor *dst, const td_tensor *src, bool largest) {
  td_walk walk;
  td_walk_init(&walk, src->n_dims, src->sizes, 2, (const td_tensor *[]){dst, src});
  TD_DISPATCH(
      src->dtype, while (td_walk_row(&walk)) {
        T *to = walk.at[0];
        const T *from = walk.at[1];
        for (int64_t i = 0; i < walk.n; i++)
          if (BEATS(from[i * walk.step[1]], to[i * walk.step[0]]))
            to[i * walk.step[0]] = from[i * walk.step[1]];
      })
}

static td_status
refuse_empty(const char *what, td_error *error) {
  return td_error_set(error, TD_INVALID,
                      "%s: Expected reduction dim to be specified for input.numel() == 0. Specify "
                      "the reduction dim with the 'dim' argument.",
                      what);
}

static td_status
extreme(const td_op_class *klass, const char *what, bool largest, td_tensor *self, int n_dims,
        const int64_t *dims, bool keepdim, td_tensor **out, td_error *error) {
  td_plan plan;
  TD_LOCAL(kept);
  TD_LOCAL(first);
  TD_TRY(td_op_want_dense(self, what, error));
  TD_TRY(td_op_check_dtype(what, self->dtype, error));
  TD_TRY(td_op_want_real(self, what, error));
  TD_TRY(td_plan_init(&plan, self, n_dims, dims, keepdim, error));
  if (plan.count == 0) return refuse_empty(largest ? "max()" : "min()", error);
  TD_TRY(td_plan_tensor(&plan, self->dtype, self->device, out, &kept, error));
  first = td_tensor_new_view(self, self->n_dims, plan.kept.at, self->strides, self->offset);
  td_kernel_copy(kept, first);
  extreme_into(kept, self, largest);
  td_plan_end_saving(klass, self, &plan, *out);
  return TD_OK;
}

td_status
td_op_max(td_tensor *self, td_tensor **out, td_error *error) {
  return extreme(&max_class, "max_all", true, self, 0, NULL, false, out, error);
}

td_status
td_op_min(td_tensor *self, td_tensor **out, td_error *error) {
  return extreme(&min_class, "min_all", false, self, 0, NULL, false, out, error);
}

td_status
td_op_amax(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
           td_error *error) {
  return extreme(&amax_class, "amax", true, self, n_dims, dims, keepdim, out, error);
}

td_status
td_op_amin(td_tensor *self, int n_dims, const int64_t *dims, bool keepdim, td_tensor **out,
           td_error *error) {
  return extreme(&amin_class, "amin", false, self, n_dims, dims, keepdim, out, error);
}

static const td_op_class median_class = TD_CALC_CLASS("MedianBackward0", amax_calc);

static const td_op_class nanmedian_class = TD_CALC_CLASS("NanmedianBackward0", amax_calc);

typedef td_status (*middle)(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                            td_tensor **indices, td_error *error);

static td_status
middle_of_all(const td_op_class *klass, middle op, td_tensor *self, td_tensor **out,
              td_error *error) {
  td_plan plan;
  TD_LOCAL(bare);
  TD_LOCAL(flat);
  TD_LOCAL(index);
  TD_TRY(td_op_check_dtype("median_all", self->dtype, error));
  bare = td_tensor_detach(self);
  TD_TRY(td_plan_init(&plan, self, 0, NULL, false, error));
  TD_TRY(td_op_reshape(bare, 1, (int64_t[]){-1}, &flat, error));
  TD_TRY(op(flat, 0, false, out, &index, error));
  td_plan_end_saving(klass, self, &plan, *out);
  return TD_OK;
}

td_status
td_op_median(td_tensor *self, td_tensor **out, td_error *error) {
  return middle_of_all(&median_class, td_op_median_dim, self, out, error);
}

td_status
td_op_nanmedian(td_tensor *self, td_tensor **out, td_error *error) {
  return middle_of_all(&nanmedian_class, td_op_nanmedian_dim, self, out, error);
}

/* The first index in a row of the extreme element. */
static int64_t
find_extreme(td_dtype dtype, const void *data, int64_t n, int64_t step, bool largest) {
  int64_t best = 0;
  TD_DISPATCH(
      dtype, const T *x = data; for (int64_t i = 1; i < n; i++) {
        const T now = x[i * step], record = x[best * step];
        if (BEATS(now, record)) best = i;
      })
  return best;
}

/* int64, with dimension `at` as 1. */
static td_status
find_lines(td_tensor *self, int at, bool largest, td_tensor **out, td_error *error) {
  td_sizes sizes = td_op_sizes(self);
  if (sizes.n_dims) sizes.at[at] = 1;
  TD_TRY(td_tensor_new(TD_INT64, self->device, sizes.n_dims, sizes.at, out, error));
  if (self->n_dims == 0) return TD_OK;
  TD_LOCAL(wide);
  TD_TRY(td_op_widen(self, &wide, error));
  td_walk walk;
  td_walk_init_lines(&walk, at, 2, (const td_tensor *[]){*out, wide});
  int64_t element = (int64_t)td_dtype_size(wide->dtype);
  while (td_walk_row(&walk))
    for (int64_t i = 0; i < walk.n; i++)
      ((int64_t *)walk.at[0])[i * walk.step[0]] =
          find_extreme(wide->dtype, (char *)walk.at[1] + i * walk.step[1] * element,
                       wide->sizes[at], wide->strides[at], largest);
  return TD_OK;
}

static td_status
check_line(const char *what, const td_tensor *self, int64_t dim, int *at, td_error *error) {
  TD_TRY(td_op_want_dense(self, what, error));
  TD_TRY(td_op_check_dtype(what, self->dtype, error));
  TD_TRY(td_op_want_real(self, what, error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, at, error));
  if (self->n_dims == 0 || self->sizes[*at] > 0) return TD_OK;
  return td_error_set(error, TD_OUT_OF_RANGE,
                      "%s(): Expected reduction dim %d to have non-zero size.", what, *at);
}

static const td_op_class max_dim_class = TD_CALC_CLASS("MaxBackward0", td_picked_calc);
static const td_op_class min_dim_class = TD_CALC_CLASS("MinBackward0", td_picked_calc);

static td_status
pick(const td_op_class *klass, const char *what, bool largest, td_tensor *self, int64_t dim,
     bool keepdim, td_tensor **values, td_tensor **indices, td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(check_line(what, self, dim, &at, error));
  TD_TRY(find_lines(self, at, largest, &found, error));
  return td_picked_end(klass, self, at, keepdim, found, values, indices, error);
}

td_status
td_op_max_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values, td_tensor **indices,
              td_error *error) {
  return pick(&max_dim_class, "max", true, self, dim, keepdim, values, indices, error);
}

td_status
td_op_min_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values, td_tensor **indices,
              td_error *error) {
  return pick(&min_dim_class, "min", false, self, dim, keepdim, values, indices, error);
}

static td_status
find_all(const char *what, bool largest, td_tensor *self, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(flat);
  TD_LOCAL(found);
  td_cut_history(self, TD_cut_kind_argmax);
  if (td_tensor_n_elements(self) == 0) return refuse_empty(what, error);
  TD_TRY(td_op_check_dtype(largest ? "argmax" : "argmin", self->dtype, error));
  bare = td_tensor_detach(self);
  TD_TRY(td_op_reshape(bare, 1, (int64_t[]){-1}, &flat, error));
  TD_TRY(find_lines(flat, 0, largest, &found, error));
  return td_op_own(td_op_reshape(found, 0, NULL, out, error), out);
}

static td_status
find_along(const char *what, bool largest, td_tensor *self, int64_t dim, bool keepdim,
           td_tensor **out, td_error *error) {
  int at;
  TD_LOCAL(kept);
  td_cut_history(self, TD_cut_kind_argmax);
  TD_TRY(check_line(what, self, dim, &at, error));
  TD_TRY(find_lines(self, at, largest, &kept, error));
  if (!keepdim && self->n_dims) return td_op_own(td_op_squeeze_dim(kept, at, out, error), out);
  *out = TD_TAKE(kept);
  return TD_OK;
}

td_status
td_op_argmax(td_tensor *self, td_tensor **out, td_error *error) {
  return find_all("argmax()", true, self, out, error);
}

td_status
td_op_argmin(td_tensor *self, td_tensor **out, td_error *error) {
  return find_all("argmin()", false, self, out, error);
}

td_status
td_op_argmax_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out, td_error *error) {
  return find_along("argmax", true, self, dim, keepdim, out, error);
}

td_status
td_op_argmin_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **out, td_error *error) {
  return find_along("argmin", false, self, dim, keepdim, out, error);
}
