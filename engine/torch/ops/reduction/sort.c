/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Elements become integer keys in the same order, and a merge sort of the keys keeps equal ones in
 * order. */
#include "engine/torch/ops/reduction/sort.h"

#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/indexing/picked.h"

#include <math.h>

typedef struct item {
  int64_t key, index;
} item;

/* -0 and 0 are equal; a NaN is above everything. */
static int64_t
key_of_real(double value) {
  int64_t bits;
  if (isnan(value)) return INT64_MAX;
  if (value == 0) return 0;
  memcpy(&bits, &value, sizeof bits);
  return bits >= 0 ? bits : (int64_t)((uint64_t)INT64_MIN - (uint64_t)bits);
}

static void
merge(const item *from, item *to, int64_t start, int64_t middle, int64_t end) {
  for (int64_t i = start, j = middle, k = start; k < end; k++)
    to[k] = i < middle && (j >= end || from[i].key <= from[j].key) ? from[i++] : from[j++];
}

/* Returns where the sorted items are: `items` or `other`. */
static item *
sort_items(item *items, item *other, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width)
      merge(items, other, i, TD_MIN(i + width, n), TD_MIN(i + 2 * width, n));
    item *sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

/* A line is read through a tensor of its elements alone. */
static void
read_items(const td_tensor *line, bool descending, item *items) {
  bool real = td_dtype_is_floating(line->dtype);
  for (int64_t i = 0; i < td_tensor_n_elements(line); i++) {
    int64_t key = real ? key_of_real(td_tensor_get(line, i)) : td_tensor_get_integer(line, i);
    items[i] = (item){.key = descending ? ~key : key, .index = i};
  }
}

/* What becomes of a line's n items: `scratch` has room for n more. It writes k indices, `step`
 * apart. */
typedef void (*ranker)(item *items, item *scratch, int64_t n, int64_t k, int64_t *out,
                       int64_t step);

static void
rank_all(item *items, item *scratch, int64_t n, int64_t k, int64_t *out, int64_t step) {
  const item *sorted = sort_items(items, scratch, n);
  for (int64_t i = 0; i < k; i++)
    out[i * step] = sorted[i].index;
}

/* The lower one of two in the middle; a NaN, if there is one. */
static void
rank_median(item *items, item *scratch, int64_t n, int64_t k, int64_t *out, int64_t step) {
  for (int64_t i = 0; i < n; i++)
    if (items[i].key == INT64_MAX) {
      *out = i;
      return;
    }
  *out = sort_items(items, scratch, n)[(n - 1) / 2].index;
}

/* The same of what is no NaN; a NaN if there is nothing else. */
static void
rank_nanmedian(item *items, item *scratch, int64_t n, int64_t k, int64_t *out, int64_t step) {
  int64_t n_numbers = 0;
  for (int64_t i = 0; i < n; i++)
    n_numbers += items[i].key != INT64_MAX;
  *out = sort_items(items, scratch, n)[n_numbers ? (n_numbers - 1) / 2 : 0].index;
}

/* The smallest of the most frequent ones, at its last place. */
static void
rank_mode(item *items, item *scratch, int64_t n, int64_t k, int64_t *out, int64_t step) {
  const item *sorted = sort_items(items, scratch, n);
  int64_t most = 0, run = 0;
  for (int64_t i = 0; i < n; i++) {
    run = i && sorted[i].key == sorted[i - 1].key ? run + 1 : 1;
    bool ends = i + 1 == n || sorted[i + 1].key != sorted[i].key;
    if (!ends || run <= most) continue;
    most = run;
    *out = sorted[i].index;
  }
}

/* The place of the largest so far. */
static void
rank_running(item *items, item *scratch, int64_t n, int64_t k, int64_t *out, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; i++) {
    if (items[i].key == ~INT64_MAX) items[i].key = INT64_MAX; /* a NaN of descending keys */
    if (items[i].key >= items[best].key) best = i;
    out[i * step] = best;
  }
}

static void
rank_lines(ranker rank, td_tensor *indices, const td_tensor *self, int at, bool descending) {
  int64_t n = self->n_dims ? self->sizes[at] : 1, k = indices->n_dims ? indices->sizes[at] : 1;
  int64_t step = indices->n_dims ? indices->strides[at] : 1;
  int64_t element = (int64_t)td_dtype_size(self->dtype);
  item *items = TD_NEW_N(item, 2 * n + 1);
  td_tensor line = *self;
  line.n_dims = 1;
  line.sizes[0] = n;
  line.strides[0] = self->n_dims ? self->strides[at] : 1;
  td_walk walk;
  td_walk_init_lines(&walk, at, 2, (const td_tensor *[]){indices, self});
  while (td_walk_row(&walk))
    for (int64_t i = 0; i < walk.n; i++) {
      char *first = (char *)walk.at[1] + i * walk.step[1] * element;
      line.offset = (first - (char *)self->storage->data) / element;
      read_items(&line, descending, items);
      rank(items, items + n, n, k, (int64_t *)walk.at[0] + i * walk.step[0], step);
    }
  free(items);
}

/* A result of k per line; k -1: of all. */
static td_status
find_ranked(ranker rank, const char *what, td_tensor *self, int64_t dim, int64_t k, bool descending,
            int *at, td_tensor **out, td_error *error) {
  td_sizes sizes = td_op_sizes(self);
  TD_TRY(td_op_want_dense(self, what, error));
  TD_TRY(td_op_check_dtype(what, self->dtype, error));
  TD_TRY(td_op_want_real(self, what, error));
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, at, error));
  int64_t n = sizes.n_dims ? sizes.at[*at] : 1;
  if (k > n || k < -1) return td_error_set(error, TD_INVALID, "selected index k out of range");
  if (sizes.n_dims && k >= 0) sizes.at[*at] = k;
  TD_TRY(td_tensor_new(TD_INT64, self->device, sizes.n_dims, sizes.at, out, error));
  TD_LOCAL(wide);
  TD_TRY(td_op_widen(self, &wide, error));
  if (td_tensor_n_elements(*out)) rank_lines(rank, *out, wide, *at, descending);
  return TD_OK;
}

static const td_op_class sort_class = TD_CALC_CLASS("SortBackward0", td_picked_calc);
static const td_op_class topk_class = TD_CALC_CLASS("TopkBackward0", td_picked_calc);

td_status
td_op_sort(td_tensor *self, int64_t dim, bool descending, td_tensor **values, td_tensor **indices,
           td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(find_ranked(rank_all, "sort", self, dim, -1, descending, &at, &found, error));
  return td_picked_end(&sort_class, self, at, true, found, values, indices, error);
}

td_status
td_op_topk(td_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted, td_tensor **values,
           td_tensor **indices, td_error *error) {
  int at;
  TD_LOCAL(found);
  if (k < 0) return td_error_set(error, TD_INVALID, "selected index k out of range");
  TD_TRY(find_ranked(rank_all, "topk", self, dim, k, largest, &at, &found, error));
  return td_picked_end(&topk_class, self, at, true, found, values, indices, error);
}

static td_status
want_line(const td_tensor *self, int64_t dim, const char *what, td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (self->n_dims == 0 || self->sizes[at] > 0) return TD_OK;
  return td_error_set(error, TD_OUT_OF_RANGE,
                      "%s(): Expected reduction dim %d to have non-zero size.", what, at);
}

static const td_op_class kthvalue_class = TD_CALC_CLASS("KthvalueBackward0", td_picked_calc);
static const td_op_class median_class = TD_CALC_CLASS("MedianBackward1", td_picked_calc);
static const td_op_class nanmedian_class = TD_CALC_CLASS("NanmedianBackward1", td_picked_calc);
static const td_op_class mode_class = TD_CALC_CLASS("ModeBackward0", td_picked_calc);

td_status
td_op_kthvalue(td_tensor *self, int64_t k, int64_t dim, bool keepdim, td_tensor **values,
               td_tensor **indices, td_error *error) {
  int at;
  TD_LOCAL(first);
  TD_LOCAL(found);
  TD_TRY(want_line(self, dim, "kthvalue", error));
  int64_t n = self->n_dims ? self->sizes[dim < 0 ? dim + self->n_dims : dim] : 1;
  if (k < 1 || k > n)
    return td_error_set(error, TD_INVALID,
                        "kthvalue(): selected number k out of range for dimension %lld",
                        (long long)(dim < 0 ? dim + self->n_dims : dim));
  TD_TRY(find_ranked(rank_all, "kthvalue", self, dim, k, false, &at, &first, error));
  if (first->n_dims)
    TD_TRY(td_op_narrow(first, at, k - 1, 1, &found, error));
  else
    found = td_tensor_ref(first);
  return td_picked_end(&kthvalue_class, self, at, keepdim, found, values, indices, error);
}

td_status
td_op_median_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                 td_tensor **indices, td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(want_line(self, dim, "median", error));
  TD_TRY(find_ranked(rank_median, "median", self, dim, 1, false, &at, &found, error));
  return td_picked_end(&median_class, self, at, keepdim, found, values, indices, error);
}

td_status
td_op_nanmedian_dim(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values,
                    td_tensor **indices, td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(want_line(self, dim, "nanmedian", error));
  TD_TRY(find_ranked(rank_nanmedian, "nanmedian", self, dim, 1, false, &at, &found, error));
  return td_picked_end(&nanmedian_class, self, at, keepdim, found, values, indices, error);
}

td_status
td_op_mode(td_tensor *self, int64_t dim, bool keepdim, td_tensor **values, td_tensor **indices,
           td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(want_line(self, dim, "mode", error));
  TD_TRY(find_ranked(rank_mode, "mode", self, dim, 1, false, &at, &found, error));
  return td_picked_end(&mode_class, self, at, keepdim, found, values, indices, error);
}

static const td_op_class cummax_class = TD_CALC_CLASS("CummaxBackward0", td_picked_sum_calc);
static const td_op_class cummin_class = TD_CALC_CLASS("CumminBackward0", td_picked_sum_calc);

td_status
td_op_cummax(td_tensor *self, int64_t dim, td_tensor **values, td_tensor **indices,
             td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(find_ranked(rank_running, "cummax", self, dim, -1, false, &at, &found, error));
  return td_picked_end(&cummax_class, self, at, true, found, values, indices, error);
}

td_status
td_op_cummin(td_tensor *self, int64_t dim, td_tensor **values, td_tensor **indices,
             td_error *error) {
  int at;
  TD_LOCAL(found);
  TD_TRY(find_ranked(rank_running, "cummin", self, dim, -1, true, &at, &found, error));
  return td_picked_end(&cummin_class, self, at, true, found, values, indices, error);
}
