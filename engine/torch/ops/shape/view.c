/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Views: other sizes, strides and offsets over the same storage. */
#include "engine/torch/ops/shape/view.h"

#include "engine/torch/graph/semantics.h"
#include "engine/torch/ops/base/gradient_sum.h"
#include "engine/torch/ops/shape/shape.h"

td_sizes
td_view_sizes_without(const td_tensor *self, int dim, int64_t strides[TD_MAX_DIMS]) {
  td_sizes sizes = {0};
  for (int i = 0; i < self->n_dims; i++) {
    if (i == dim) continue;
    strides[sizes.n_dims] = self->strides[i];
    sizes.at[sizes.n_dims++] = self->sizes[i];
  }
  return sizes;
}

td_view_node *
td_view_new(const td_op_class *klass, td_tensor *self, const td_sizes *sizes,
            const int64_t *strides, int64_t offset, td_tensor **out) {
  return td_view_new_as(klass, self, self->dtype, sizes, strides, offset, out);
}

td_view_node *
td_view_new_as(const td_op_class *klass, td_tensor *self, td_dtype dtype, const td_sizes *sizes,
               const int64_t *strides, int64_t offset, td_tensor **out) {
  *out = td_tensor_new_view(self, sizes->n_dims, sizes->at, strides, offset);
  (*out)->dtype = dtype;
  td_view_init(*out, self, TD_CREATION_DEFAULT);
  if (self->is_inference) return NULL; /* its views have no history, whatever it requires */
  td_view_node *node = td_op_begin(klass, sizeof *node, TD_INPUTS(self));
  if (!node) return NULL;
  node->self = td_op_sizes(self);
  td_op_end(&node->op, *out);
  return node;
}

static td_status
reshape_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_sizes *self = &((td_view_node *)op)->self;
  return td_op_reshape(grad, self->n_dims, self->at, out, error);
}
static const td_op_class view_class = TD_OP_CLASS("ViewBackward0", reshape_formula);
static const td_op_class alias_class = TD_OP_CLASS("ReshapeAliasBackward0", reshape_formula);
static const td_op_class unsafe_class = TD_OP_CLASS("UnsafeViewBackward0", reshape_formula);

static td_status
unsqueeze_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                  td_error *error) {
  return td_op_squeeze_dim(grad, ((td_view_node *)op)->numbers[0], out, error);
}
static const td_op_class unsqueeze_class = TD_OP_CLASS("UnsqueezeBackward0", unsqueeze_formula);

/* Each dimension that was dropped comes back by a node of its own: numbers[0] is the only one, or
 * -1 where all of size 1 were. */
static td_status
squeeze_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_view_node *node = (td_view_node *)op;
  TD_LOCAL(now);
  now = td_tensor_ref(grad);
  for (int dim = 0; dim < node->self.n_dims; dim++) {
    TD_LOCAL(before);
    if (node->self.at[dim] != 1 || (node->numbers[0] >= 0 && node->numbers[0] != dim)) continue;
    before = TD_TAKE(now);
    TD_TRY(td_op_unsqueeze(before, dim, &now, error));
  }
  *out = TD_TAKE(now);
  return TD_OK;
}
static const td_op_class squeeze_class = TD_OP_CLASS("SqueezeBackward0", squeeze_formula);
static const td_op_class squeeze_dim_class = TD_OP_CLASS("SqueezeBackward1", squeeze_formula);
static const td_op_class squeeze_in_place_class = TD_OP_CLASS("SqueezeBackward3", squeeze_formula);
static const td_op_class squeeze_in_place_2_class =
    TD_OP_CLASS("SqueezeBackward4", squeeze_formula);

static td_status
refuse_sizes(const td_tensor *self, int n_dims, const int64_t *sizes, td_error *error) {
  char *text = td_sizes_text(n_dims, sizes);
  td_error_set(error, TD_SHAPE, "shape '%s' is invalid for input of size %lld", text,
               (long long)td_tensor_n_elements(self));
  free(text);
  return TD_SHAPE;
}

/* Replaces a -1 and checks the number of elements. */
static td_status
infer_sizes(const td_tensor *self, int n_dims, const int64_t *sizes, td_sizes *out,
            td_error *error) {
  int64_t known = 1, n = td_tensor_n_elements(self);
  int inferred = -1;
  if (n_dims > TD_MAX_DIMS) return refuse_sizes(self, n_dims, sizes, error);
  *out = (td_sizes){.n_dims = n_dims};
  for (int dim = 0; dim < n_dims; dim++) {
    out->at[dim] = sizes[dim];
    if (sizes[dim] == -1 && inferred >= 0)
      return td_error_set(error, TD_SHAPE, "only one dimension can be inferred");
    if (sizes[dim] < -1)
      return td_error_set(error, TD_SHAPE, "invalid shape dimension %lld", (long long)sizes[dim]);
    if (sizes[dim] == -1)
      inferred = dim;
    else if (__builtin_mul_overflow(known, sizes[dim], &known))
      return refuse_sizes(self, n_dims, sizes, error);
  }
  if (inferred >= 0 && known > 0 && n % known == 0) {
    out->at[inferred] = n / known;
    return TD_OK;
  }
  return inferred < 0 && known == n ? TD_OK : refuse_sizes(self, n_dims, sizes, error);
}

/* Strides with which self's elements, in order, have other sizes; false where only a copy can.
 * Walks both shapes from the inside, one run of self's dimensions that lie as one in memory at a
 * time. */
static bool
view_strides(const td_tensor *self, const td_sizes *sizes, int64_t *strides) {
  if (td_tensor_n_elements(self) == 0 || self->n_dims == 0) {
    int64_t stride = 1;
    for (int dim = sizes->n_dims - 1; dim >= 0; stride *= TD_MAX(sizes->at[dim--], 1))
      strides[dim] = stride;
    return true;
  }
  int view_dim = sizes->n_dims - 1;
  int64_t base = self->strides[self->n_dims - 1], run = 1, viewed = 1;
  for (int dim = self->n_dims - 1; dim >= 0; dim--) {
    run *= self->sizes[dim];
    bool ends = dim == 0 || (self->sizes[dim - 1] != 1 && self->strides[dim - 1] != run * base);
    if (!ends) continue;
    while (view_dim >= 0 && (viewed < run || sizes->at[view_dim] == 1)) {
      strides[view_dim] = viewed * base;
      viewed *= sizes->at[view_dim--];
    }
    if (viewed != run) return false;
    if (dim > 0) base = self->strides[dim - 1];
    run = viewed = 1;
  }
  return view_dim < 0;
}

static td_status
view(const td_op_class *klass, td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
     td_error *error) {
  td_sizes inferred;
  int64_t strides[TD_MAX_DIMS];
  TD_TRY(infer_sizes(self, n_dims, sizes, &inferred, error));
  if (!view_strides(self, &inferred, strides))
    return td_error_set(error, TD_SHAPE,
                        "view size is not compatible with input tensor's size and stride (at least "
                        "one dimension spans across two contiguous subspaces). Use .reshape(...) "
                        "instead.");
  td_view_new(klass, self, &inferred, strides, self->offset, out);
  return TD_OK;
}

td_status
td_op_view(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  return view(&view_class, self, n_dims, sizes, out, error);
}

td_status
td_op_reshape(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  td_sizes inferred;
  int64_t strides[TD_MAX_DIMS];
  TD_TRY(infer_sizes(self, n_dims, sizes, &inferred, error));
  if (view_strides(self, &inferred, strides)) {
    bool is_plain = td_policy(plain_names) && td_tensor_is_contiguous(self);
    td_view_new(is_plain ? &view_class : &alias_class, self, &inferred, strides, self->offset, out);
    return TD_OK;
  }
  TD_LOCAL(copy);
  TD_TRY(td_op_clone(self, &copy, error));
  return td_op_unsafe_view(copy, inferred.n_dims, inferred.at, out, error);
}

td_status
td_op_unsafe_view(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out,
                  td_error *error) {
  TD_TRY(view(&unsafe_class, self, n_dims, sizes, out, error));
  td_tensor_unref(td_op_take(&(*out)->base)); /* nobody else sees what it is of */
  return TD_OK;
}

td_status
td_op_flatten(td_tensor *self, int64_t start_dim, int64_t end_dim, td_tensor **out,
              td_error *error) {
  int start, end;
  TD_TRY(td_op_wrap_dim(start_dim, self->n_dims, &start, error));
  TD_TRY(td_op_wrap_dim(end_dim, self->n_dims, &end, error));
  if (start > end)
    return td_error_set(error, TD_INVALID,
                        "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self->n_dims == 0) return td_op_reshape(self, 1, (int64_t[]){1}, out, error);
  if (start == end) {
    *out = td_tensor_ref(self);
    return TD_OK;
  }
  td_sizes sizes = {0};
  for (int dim = 0; dim < self->n_dims; dim++)
    if (dim <= start || dim > end)
      sizes.at[sizes.n_dims++] = self->sizes[dim];
    else
      sizes.at[start] *= self->sizes[dim];
  return td_op_reshape(self, sizes.n_dims, sizes.at, out, error);
}

static td_status
expand_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  const td_sizes *self = &((td_view_node *)op)->self;
  return td_op_sum_to(grad, self->n_dims, self->at, out, error);
}
static const td_op_class expand_class = TD_OP_CLASS("ExpandBackward0", expand_formula);

static td_status
refuse_expansion(const td_tensor *self, int n_dims, const int64_t *sizes, int dim,
                 td_error *error) {
  int own = dim - (n_dims - self->n_dims);
  if (own < 0)
    return td_error_set(error, TD_SHAPE,
                        "The expanded size of the tensor (%lld) isn't allowed in a leading, "
                        "non-existing dimension %d",
                        (long long)sizes[dim], dim);
  char *target = td_sizes_text(n_dims, sizes), *existing = td_tensor_shape_text(self);
  td_error_set(error, TD_SHAPE,
               "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
               "non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
               (long long)sizes[dim], (long long)self->sizes[own], dim, target, existing);
  free(target);
  free(existing);
  return TD_SHAPE;
}

/* The size and stride of a dimension that was `own` before (negative: it is new); false where it
 * cannot be. */
static bool
expand_dim(const td_tensor *self, int own, int64_t wanted, int64_t *size, int64_t *stride) {
  bool is_new = own < 0;
  *size = wanted == -1 && !is_new ? self->sizes[own] : wanted;
  *stride = is_new || (self->sizes[own] == 1 && *size != 1) ? 0 : self->strides[own];
  return *size >= 0 && (is_new || self->sizes[own] == *size || self->sizes[own] == 1);
}

td_status
td_op_expand(td_tensor *self, int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  if (n_dims < self->n_dims || n_dims > TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE,
                        "expand: the number of sizes provided (%d) must be greater or equal to the "
                        "number of dimensions in the tensor (%d), and at most %d",
                        n_dims, self->n_dims, TD_MAX_DIMS);
  td_sizes expanded = {.n_dims = n_dims};
  int64_t strides[TD_MAX_DIMS];
  for (int dim = n_dims - 1, first = n_dims - self->n_dims; dim >= 0; dim--)
    if (!expand_dim(self, dim - first, sizes[dim], &expanded.at[dim], &strides[dim]))
      return refuse_expansion(self, n_dims, sizes, dim, error);
  td_view_new(&expand_class, self, &expanded, strides, self->offset, out);
  return TD_OK;
}

td_status
td_op_unsqueeze(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims + 1, &at, error));
  if (self->n_dims == TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "a tensor has at most %d dimensions", TD_MAX_DIMS);
  td_sizes sizes = {.n_dims = self->n_dims + 1};
  int64_t strides[TD_MAX_DIMS];
  for (int i = 0, from = 0; i < sizes.n_dims; i++) {
    bool is_new = i == at;
    int64_t inner = from < self->n_dims ? self->sizes[from] * self->strides[from] : 1;
    sizes.at[i] = is_new ? 1 : self->sizes[from];
    strides[i] = is_new ? inner : self->strides[from++];
  }
  td_view_node *node = td_view_new(&unsqueeze_class, self, &sizes, strides, self->offset, out);
  if (node) node->numbers[0] = at;
  return TD_OK;
}

/* Drops dimensions of size 1: only `only`, or all for -1. */
static void
squeeze(const td_op_class *klass, td_tensor *self, int only, td_tensor **out) {
  td_sizes sizes = {0};
  int64_t strides[TD_MAX_DIMS];
  for (int dim = 0; dim < self->n_dims; dim++) {
    if (self->sizes[dim] == 1 && (only < 0 || only == dim)) continue;
    strides[sizes.n_dims] = self->strides[dim];
    sizes.at[sizes.n_dims++] = self->sizes[dim];
  }
  td_view_node *node = td_view_new(klass, self, &sizes, strides, self->offset, out);
  if (node) node->numbers[0] = only;
}

td_status
td_op_squeeze(td_tensor *self, td_tensor **out, td_error *error) {
  squeeze(&squeeze_class, self, -1, out);
  return TD_OK;
}

td_status
td_op_squeeze_dim(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  squeeze(&squeeze_dim_class, self, at, out);
  return TD_OK;
}

td_status
td_op_squeeze_in_place(td_tensor *self, int64_t dim, td_tensor **out, td_error *error) {
  int at;
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  squeeze(td_policy(plain_names) ? &squeeze_in_place_2_class : &squeeze_in_place_class, self, at,
          out);
  return TD_OK;
}

td_status
td_op_unflatten(td_tensor *self, int64_t dim, int n_sizes, const int64_t *sizes, td_tensor **out,
                td_error *error) {
  int at;
  td_sizes all = {0};
  TD_TRY(td_op_wrap_dim(dim, self->n_dims, &at, error));
  if (self->n_dims - 1 + n_sizes > TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "a tensor has at most %d dimensions", TD_MAX_DIMS);
  int64_t known = 1;
  for (int i = 0; i < n_sizes; i++)
    known *= sizes[i] == -1 ? 1 : sizes[i];
  for (int i = 0; i < self->n_dims; i++) {
    if (i != at) all.at[all.n_dims++] = self->sizes[i];
    for (int j = 0; i == at && j < n_sizes; j++)
      all.at[all.n_dims++] = sizes[j] == -1 && known ? self->sizes[at] / known : sizes[j];
  }
  return td_op_view(self, all.n_dims, all.at, out, error);
}

static td_status
alias_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out, td_error *error) {
  *out = td_tensor_ref(grad);
  return TD_OK;
}
static const td_op_class whole_class = TD_OP_CLASS("AliasBackward0", alias_formula);

td_status
td_op_alias(td_tensor *self, td_tensor **out, td_error *error) {
  td_sizes sizes = td_op_sizes(self);
  TD_TRY(td_op_want_dense(self, "alias", error));
  td_view_new(&whole_class, self, &sizes, self->strides, self->offset, out);
  return TD_OK;
}
