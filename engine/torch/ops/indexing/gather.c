/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gather, scatter and slices by number: one index tensor along one dimension. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/indexing/indexing.h"

typedef struct along_node {
  td_op_node op;
  td_input_metadata self;
  int dim;
  bool sparse;
} along_node;

static along_node *
along_begin(const td_op_class *klass, td_tensor *self, td_tensor *src, int dim, td_tensor *index) {
  td_tensor *inputs[] = {self, src};
  along_node *node = td_op_begin(klass, sizeof *node, inputs, src ? 2 : 1);
  if (!node) return NULL;
  node->self = td_op_metadata(self);
  node->dim = dim;
  td_op_save(&node->op, 0, index);
  return node;
}

/* Zeros as self was, in the gradient's dtype. */
static td_tensor *
zeros_like_self(td_calc *c, const along_node *node, const td_tensor *grad) {
  td_tensor *zeros = NULL;
  if (!c->status)
    c->status = td_tensor_new(grad->dtype, grad->device, node->self.n_dims, node->self.sizes,
                              &zeros, c->error);
  return td_calc_keep(c, zeros);
}

static td_status
check_int64(const char *what, const td_tensor *index, td_error *error) {
  if (index->dtype == TD_INT64) return TD_OK;
  return td_error_set(error, TD_DTYPE, "%s(): Expected dtype int64 for index", what);
}

/* index and src (or the result) fit self's other dimensions. */
static td_status
check_along(const char *what, const td_tensor *self, int dim, const td_tensor *index,
            const td_tensor *src, td_error *error) {
  TD_TRY(td_op_want_dense(self, what, error));
  TD_TRY(check_int64(what, index, error));
  if (td_tensor_n_elements(index) == 0) return TD_OK;
  if (TD_MAX(index->n_dims, 1) != TD_MAX(self->n_dims, 1))
    return td_error_set(error, TD_SHAPE,
                        src ? "Index tensor must have the same number of dimensions as self tensor"
                            : "Index tensor must have the same number of dimensions as input "
                              "tensor");
  bool fits = true;
  for (int i = 0; i < index->n_dims; i++) {
    if (i != dim && self->n_dims && index->sizes[i] > self->sizes[i]) fits = false;
    if (src && src->n_dims && index->sizes[i] > src->sizes[i]) fits = false;
  }
  if (fits) return TD_OK;
  char *of_index = td_tensor_shape_text(index), *of_self = td_tensor_shape_text(self);
  char *of_src = src ? td_tensor_shape_text(src) : NULL;
  if (src)
    td_error_set(error, TD_SHAPE,
                 "Expected index %s to be no larger than self %s apart from dimension %d and to be "
                 "no larger than src %s",
                 of_index, of_self, dim, of_src);
  else
    td_error_set(error, TD_SHAPE,
                 "Size does not match at dimension %d expected index %s to be no larger than self "
                 "%s apart from dimension %d",
                 0, of_index, of_self, dim);
  free(of_index);
  free(of_self);
  free(of_src);
  return TD_SHAPE;
}

static td_status
check_range(const td_tensor *index, int64_t size, int dim, td_error *error) {
  int64_t n = td_tensor_n_elements(index);
  for (int64_t i = 0; td_tensor_has_data(index) && i < n; i++) {
    int64_t at = (int64_t)td_tensor_get(index, i);
    if (at < 0 || at >= size)
      return td_error_set(error, TD_INVALID,
                          "index %lld is out of bounds for dimension %d with size %lld",
                          (long long)at, dim, (long long)size);
  }
  return TD_OK;
}

typedef enum move { READ, WRITE, ADD_TO } move;

/* Walks over index's places; `other` is as large or larger. The walk's third tensor stands at the
 * beginning of self's line. */
static void
along(move what, td_tensor *self, int dim, const td_tensor *index, td_tensor *other) {
  td_walk walk;
  td_tensor line = *self, part = *other;
  int64_t stride = self->n_dims ? self->strides[dim] : 0;
  line.n_dims = part.n_dims = index->n_dims;
  for (int i = 0; i < index->n_dims; i++) {
    line.sizes[i] = part.sizes[i] = index->sizes[i];
    if (i == dim || self->n_dims == 0) line.strides[i] = 0;
  }
  td_walk_init(&walk, index->n_dims, index->sizes, 3, (const td_tensor *[]){index, &part, &line});
  TD_DISPATCH_ALL(
      self->dtype, while (td_walk_row(&walk)) {
        const int64_t *number = walk.at[0];
        T *elements = walk.at[1], *lines = walk.at[2];
        for (int64_t i = 0; i < walk.n; i++) {
          T *place = lines + i * walk.step[2] + number[i * walk.step[0]] * stride;
          if (what == READ) elements[i * walk.step[1]] = *place;
          if (what == WRITE) *place = elements[i * walk.step[1]];
          if (what == ADD_TO) *place += elements[i * walk.step[1]];
        }
      })
}

static td_tensor *
sparse_gradient(td_calc *c, const along_node *node, td_tensor *grad, td_tensor *index) {
  int n_dims = TD_MAX(node->self.n_dims, 1);
  int64_t n = td_tensor_n_elements(index), one = 1;
  td_tensor *indices = NULL, *values = NULL, *sparse = NULL;
  const int64_t *sizes = node->self.n_dims ? node->self.sizes : &one;
  c->status = td_tensor_new(TD_INT64, grad->device, 2, (int64_t[]){n_dims, n}, &indices, c->error);
  if (!td_calc_keep(c, indices)) return NULL;
  int64_t *at = td_tensor_data(indices);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i;
    for (int dim = n_dims - 1; dim >= 0; rest /= index->n_dims ? index->sizes[dim] : 1, dim--)
      at[dim * n + i] =
          dim == node->dim ? (int64_t)td_tensor_get(index, i) : rest % index->sizes[dim];
  }
  c->status = td_op_reshape(grad, 1, &n, &values, c->error);
  td_calc_keep(c, values);
  if (!c->status)
    c->status = td_sparse_new(indices, values, n_dims, sizes, false, &sparse, c->error);
  if (sparse && node->self.n_dims == 0) sparse->n_dims = 1;
  return td_calc_keep(c, sparse);
}

static td_tensor *
gather_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  along_node *node = (along_node *)op;
  td_tensor *index = SAVED(0), *out = NULL;
  if (c->status) return NULL;
  if (node->sparse && node->self.n_dims) return sparse_gradient(c, node, grad, index);
  td_tensor *zeros = zeros_like_self(c, node, grad);
  if (!c->status) c->status = td_op_scatter_add(zeros, node->dim, index, grad, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class gather_class = TD_CALC_CLASS("GatherBackward0", gather_calc);

td_status
td_op_gather(td_tensor *self, int64_t dim, td_tensor *index, bool sparse_grad, td_tensor **out,
             td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  TD_TRY(check_along("gather", self, at, index, NULL, error));
  TD_TRY(check_range(index, self->n_dims ? self->sizes[at] : 1, at, error));
  TD_LOCAL(wide);
  TD_TRY(td_op_widen(self, &wide, error));
  TD_TRY(td_tensor_new_empty(wide->dtype, self->device, index->n_dims, index->sizes, out, error));
  along(READ, wide, at, index, *out);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  along_node *node = along_begin(&gather_class, self, NULL, at, index);
  if (!node) return TD_OK;
  node->sparse = sparse_grad;
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_tensor *
gather_from(td_calc *c, td_tensor *grad, const along_node *node, td_tensor *index) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_gather(grad, node->dim, index, false, &out, c->error);
  return td_calc_keep(c, out);
}

static td_tensor *
scatter_add_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  return which == 0 ? grad : gather_from(c, grad, (along_node *)op, SAVED(0));
}
static const td_op_class scatter_add_class = TD_CALC_CLASS("ScatterAddBackward0", scatter_add_calc);

/* What was overwritten has no gradient. */
static td_tensor *
scatter_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  along_node *node = (along_node *)op;
  td_tensor *index = SAVED(0), *out = NULL;
  if (which == 1) return gather_from(c, grad, node, index);
  if (!c->status) c->status = td_op_scatter_value(grad, node->dim, index, 0, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class scatter_class = TD_CALC_CLASS("ScatterBackward0", scatter_calc);
static const td_op_class scatter_value_class = TD_CALC_CLASS("ScatterBackward1", scatter_calc);

static td_status
scatter(const td_op_class *klass, move what, td_tensor *self, int64_t dim, td_tensor *index,
        td_tensor *src, bool src_is_input, td_tensor **out, td_error *error) {
  int at;
  TD_LOCAL(bare);
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (self->dtype != src->dtype)
    return td_error_set(error, TD_DTYPE, "scatter(): Expected self.dtype to be equal to src.dtype");
  TD_TRY(check_along("scatter", self, at, index, src, error));
  TD_TRY(check_range(index, self->n_dims ? self->sizes[at] : 1, at, error));
  TD_LOCAL(wide);
  TD_LOCAL(wide_src);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_widen(bare, &wide, error));
  TD_TRY(td_op_widen(src, &wide_src, error));
  TD_TRY(td_op_clone(wide, out, error));
  along(what, *out, at, index, wide_src);
  TD_TRY(td_op_rounded(out, self->dtype, error));
  along_node *node = along_begin(klass, self, src_is_input ? src : NULL, at, index);
  if (node) td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_scatter_add(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *src, td_tensor **out,
                  td_error *error) {
  return scatter(&scatter_add_class, ADD_TO, self, dim, index, src, true, out, error);
}

td_status
td_op_scatter(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *src, td_tensor **out,
              td_error *error) {
  return scatter(&scatter_class, WRITE, self, dim, index, src, true, out, error);
}

td_status
td_op_scatter_value(td_tensor *self, int64_t dim, td_tensor *index, double value, td_tensor **out,
                    td_error *error) {
  TD_LOCAL(number);
  TD_LOCAL(everywhere);
  number = td_tensor_new_scalar(self->dtype, self->device, value);
  TD_TRY(td_op_expand(number, index->n_dims, index->sizes, &everywhere, error));
  return scatter(&scatter_value_class, WRITE, self, dim, index, everywhere, false, out, error);
}

/* The slice of `tensor` at a place along dim, with that dimension as 1. */
static td_tensor *
slice_at(const td_tensor *tensor, int dim, int64_t place) {
  if (tensor->n_dims == 0) return td_tensor_detach(tensor);
  td_sizes sizes = td_op_sizes(tensor);
  sizes.at[dim] = 1;
  return td_tensor_new_view(tensor, tensor->n_dims, sizes.at, tensor->strides,
                            tensor->offset + place * tensor->strides[dim]);
}

static void
move_slices(move what, td_tensor *self, int dim, const td_tensor *index, td_tensor *other) {
  int64_t n = td_tensor_has_data(index) ? td_tensor_n_elements(index) : 0;
  for (int64_t i = 0; i < n; i++) {
    TD_LOCAL(ours);
    TD_LOCAL(theirs);
    ours = slice_at(self, dim, (int64_t)td_tensor_get(index, i));
    theirs = slice_at(other, dim, i);
    if (what == READ)
      td_kernel_copy(theirs, ours);
    else
      td_kernel_add_into(ours, theirs);
  }
}

static td_status
check_slices(const char *what, const td_tensor *self, int dim, const td_tensor *index,
             td_error *error) {
  TD_TRY(td_op_want_dense(self, what, error));
  if (index->n_dims > 1)
    return td_error_set(error, TD_OUT_OF_RANGE, "%s(): Index is supposed to be a vector", what);
  if (index->dtype != TD_INT64)
    return td_error_set(error, TD_DTYPE, "%s(): Expected dtype int32 or int64 for index", what);
  int64_t n = td_tensor_has_data(index) ? td_tensor_n_elements(index) : 0;
  int64_t size = self->n_dims ? self->sizes[dim] : 1;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = (int64_t)td_tensor_get(index, i);
    if (at < 0 || at >= size)
      return td_error_set(error, TD_OUT_OF_RANGE, "index out of range in self");
  }
  return TD_OK;
}

static td_tensor *
index_select_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  along_node *node = (along_node *)op;
  td_tensor *index = SAVED(0), *zeros = zeros_like_self(c, node, grad), *out = NULL;
  if (!c->status) c->status = td_op_index_add(zeros, node->dim, index, grad, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class index_select_class =
    TD_CALC_CLASS("IndexSelectBackward0", index_select_calc);

td_status
td_op_index_select(td_tensor *self, int64_t dim, td_tensor *index, td_tensor **out,
                   td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  TD_TRY(check_slices("index_select", self, at, index, error));
  td_sizes sizes = td_op_sizes(self);
  if (self->n_dims) sizes.at[at] = td_tensor_n_elements(index);
  TD_TRY(td_tensor_new_empty(self->dtype, self->device, sizes.n_dims, sizes.at, out, error));
  move_slices(READ, self, at, index, *out);
  along_node *node = along_begin(&index_select_class, self, NULL, at, index);
  if (node) td_op_end(&node->op, *out);
  return TD_OK;
}

static td_tensor *
index_add_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  along_node *node = (along_node *)op;
  td_tensor *out = NULL, *index = SAVED(0);
  if (which == 0) return grad;
  if (!c->status) c->status = td_op_index_select(grad, node->dim, index, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class index_add_class = TD_CALC_CLASS("IndexAddBackward0", index_add_calc);

td_status
td_op_index_add(td_tensor *self, int64_t dim, td_tensor *index, td_tensor *source, td_tensor **out,
                td_error *error) {
  int at;
  TD_LOCAL(bare);
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  TD_TRY(check_slices("index_add", self, at, index, error));
  if (self->dtype != source->dtype)
    return td_error_set(error, TD_DTYPE, "index_add_(): self and source must have the same dtype");
  if (source->n_dims && source->sizes[at] != td_tensor_n_elements(index))
    return td_error_set(error, TD_SHAPE,
                        "index_add_(): Number of indices (%lld) should be equal to "
                        "source.size(dim): (%lld), for dim: %d",
                        (long long)td_tensor_n_elements(index), (long long)source->sizes[at], at);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_clone(bare, out, error));
  move_slices(ADD_TO, *out, at, index, source);
  along_node *node = along_begin(&index_add_class, self, source, at, index);
  if (node) td_op_end(&node->op, *out);
  return TD_OK;
}
