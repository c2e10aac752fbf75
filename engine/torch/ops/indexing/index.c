/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Indexing with tensors: several index tensors, broadcast together, each for one dimension. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/indexing/indexing.h"

#include "engine/torch/graph/warnings.h"

#include <stdio.h>

typedef struct indexing {
  td_tensor *indices[TD_MAX_DIMS]; /* (owned references) int64, or NULL: all of the dimension */
  td_sizes picked;                 /* what the indices broadcast to */
  td_sizes rest;                   /* the dimensions without an index */
  int64_t rest_strides[TD_MAX_DIMS];
  int first; /* the position of `picked` among the result's dimensions */
} indexing;

static void
indexing_fini(indexing *self) {
  for (int dim = 0; dim < TD_MAX_DIMS; dim++)
    td_tensor_unref(self->indices[dim]);
}

td_status
td_op_nonzero(td_tensor *self, td_tensor **out, td_error *error) {
  int64_t n = TD_LAUNCH("nonzero", 0, self) ? td_tensor_n_elements(self) : 0, found = 0, row = 0;
  TD_TRY(td_op_want_dense(self, "nonzero", error));
  for (int64_t i = 0; i < n; i++)
    found += td_tensor_get_complex(self, i) != 0;
  TD_TRY(td_tensor_new(TD_INT64, self->device, 2, (int64_t[]){found, self->n_dims}, out, error));
  int64_t *to = td_tensor_data(*out);
  for (int64_t i = 0; i < n; i++) {
    if (td_tensor_get_complex(self, i) == 0) continue;
    int64_t rest = i;
    for (int dim = self->n_dims - 1; dim >= 0; rest /= self->sizes[dim--])
      to[row * self->n_dims + dim] = rest % self->sizes[dim];
    row++;
  }
  return TD_OK;
}

/* A mask stands for one list of places per dimension that it covers. */
static td_status
take_mask(indexing *self, const td_tensor *of, int dim, td_tensor *mask, td_error *error) {
  TD_LOCAL(places);
  for (int i = 0; i < mask->n_dims; i++) {
    if (dim + i < of->n_dims && mask->sizes[i] == of->sizes[dim + i]) continue;
    char *mask_text = td_tensor_shape_text(mask), *text = td_tensor_shape_text(of);
    td_error_set(error, TD_OUT_OF_RANGE,
                 "The shape of the mask %s at index %d does not match the shape of the indexed "
                 "tensor %s at index %d",
                 mask_text, i, text, dim + i);
    free(mask_text);
    free(text);
    return TD_OUT_OF_RANGE;
  }
  TD_TRY(td_op_nonzero(mask, &places, error));
  for (int i = 0; i < mask->n_dims; i++)
    TD_TRY(td_op_select(places, 1, i, &self->indices[dim + i], error));
  return TD_OK;
}

static td_status
take_indices(indexing *self, const td_tensor *of, uint32_t n, td_tensor *const *indices,
             td_error *error) {
  int dim = 0;
  for (uint32_t i = 0; i < n; i++) {
    TD_LOCAL(mask);
    td_tensor *index = indices[i];
    if (index && index->dtype == TD_UINT8) {
      td_warn(NULL, "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                    "torch.bool instead.");
      TD_TRY(td_kernel_cast(index, TD_BOOL, &mask, error));
      index = mask;
    }
    int covers = index && index->dtype == TD_BOOL ? index->n_dims : 1;
    if (dim + covers > of->n_dims)
      return td_error_set(error, TD_OUT_OF_RANGE, "too many indices for tensor of dimension %d",
                          of->n_dims);
    if (index && index->dtype == TD_BOOL) {
      TD_TRY(take_mask(self, of, dim, index, error));
    } else if (index && (index->dtype == TD_INT64 || index->dtype == TD_INT32)) {
      TD_TRY(td_kernel_cast(index, TD_INT64, &self->indices[dim], error));
    } else if (index)
      return td_error_set(error, TD_OUT_OF_RANGE,
                          "tensors used as indices must be long, int, byte or bool tensors");
    dim += covers;
  }
  return TD_OK;
}

static td_status
refuse_broadcast(const indexing *self, td_error *error) {
  char texts[256] = "";
  for (int dim = 0; dim < TD_MAX_DIMS; dim++) {
    if (!self->indices[dim]) continue;
    char *text = td_tensor_shape_text(self->indices[dim]);
    size_t length = strlen(texts);
    snprintf(texts + length, sizeof texts - length, "%s%s", length ? ", " : "", text);
    free(text);
  }
  td_error_clear(error);
  return td_error_set(error, TD_OUT_OF_RANGE,
                      "shape mismatch: indexing tensors could not be broadcast together with "
                      "shapes %s",
                      texts);
}

static td_status
check_range(const td_tensor *of, int dim, const td_tensor *index, td_error *error) {
  int64_t n = td_tensor_has_data(index) ? td_tensor_n_elements(index) : 0, size = of->sizes[dim];
  for (int64_t i = 0; i < n; i++) {
    int64_t at = (int64_t)td_tensor_get(index, i);
    if (at < -size || at >= size)
      return td_error_set(error, TD_OUT_OF_RANGE,
                          "index %lld is out of bounds for dimension %d with size %lld",
                          (long long)at, dim, (long long)size);
  }
  return TD_OK;
}

/* Where the indices' dimensions go: in place of the indexed ones if those are neighbours. */
static td_status
plan(indexing *self, const td_tensor *of, td_error *error) {
  int last = -1;
  bool apart = false;
  self->first = -1;
  for (int dim = 0; dim < of->n_dims; dim++) {
    if (!self->indices[dim]) {
      self->rest_strides[self->rest.n_dims] = of->strides[dim];
      self->rest.at[self->rest.n_dims++] = of->sizes[dim];
      continue;
    }
    td_sizes sizes = td_op_sizes(self->indices[dim]), both;
    if (td_op_broadcast(&self->picked, &sizes, &both, error)) return refuse_broadcast(self, error);
    self->picked = both;
    TD_TRY(check_range(of, dim, self->indices[dim], error));
    if (self->first < 0) self->first = dim;
    if (last >= 0 && last != dim - 1) apart = true;
    last = dim;
  }
  if (apart || self->first < 0) self->first = 0;
  if (self->rest.n_dims + self->picked.n_dims > TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "a tensor has at most %d dimensions", TD_MAX_DIMS);
  return TD_OK;
}

static td_status
indexing_init(indexing *self, td_tensor *of, uint32_t n, td_tensor *const *indices,
              td_error *error) {
  *self = (indexing){0};
  TD_TRY(td_op_want_dense(of, "index.Tensor", error));
  TD_TRY(take_indices(self, of, n, indices, error));
  return plan(self, of, error);
}

static td_sizes
result_sizes(const indexing *self) {
  td_sizes sizes = {0};
  for (int i = 0; i < self->first; i++)
    sizes.at[sizes.n_dims++] = self->rest.at[i];
  for (int i = 0; i < self->picked.n_dims; i++)
    sizes.at[sizes.n_dims++] = self->picked.at[i];
  for (int i = self->first; i < self->rest.n_dims; i++)
    sizes.at[sizes.n_dims++] = self->rest.at[i];
  return sizes;
}

/* The offset in `of` of the i-th place that the indices name. */
static int64_t
offset_of(const indexing *self, const td_tensor *of, int64_t i) {
  int64_t offset = of->offset;
  for (int dim = 0; dim < of->n_dims; dim++) {
    const td_tensor *index = self->indices[dim];
    if (!index) continue;
    int64_t rest = i, at = 0;
    for (int p = self->picked.n_dims - 1, own = index->n_dims - 1; own >= 0; p--, own--) {
      if (index->sizes[own] != 1) at += rest % self->picked.at[p] * index->strides[own];
      rest /= self->picked.at[p];
    }
    int64_t number = ((const int64_t *)td_tensor_data(index))[at];
    offset += (number < 0 ? number + of->sizes[dim] : number) * of->strides[dim];
  }
  return offset;
}

/* The part of a tensor in the result's sizes that belongs to the i-th place. */
static td_tensor *
part_of(const indexing *self, const td_tensor *result, int64_t i) {
  int64_t offset = result->offset, rest = i, strides[TD_MAX_DIMS];
  for (int p = self->picked.n_dims - 1; p >= 0; rest /= self->picked.at[p--])
    offset += rest % self->picked.at[p] * result->strides[self->first + p];
  for (int d = 0; d < self->rest.n_dims; d++)
    strides[d] = result->strides[d < self->first ? d : d + self->picked.n_dims];
  return td_tensor_new_view(result, self->rest.n_dims, self->rest.at, strides, offset);
}

typedef enum move { READ, WRITE, ADD_TO } move;

static void
move_parts(move what, const indexing *self, td_tensor *of, td_tensor *result) {
  int64_t n = 1;
  for (int p = 0; p < self->picked.n_dims; p++)
    n *= self->picked.at[p];
  if (!TD_LAUNCH("index", what == READ ? 0 : 1, of, result)) n = 0;
  for (int64_t i = 0; i < n; i++) {
    TD_LOCAL(ours);
    TD_LOCAL(theirs);
    ours = td_tensor_new_view(of, self->rest.n_dims, self->rest.at, self->rest_strides,
                              offset_of(self, of, i));
    theirs = part_of(self, result, i);
    if (what == READ)
      td_kernel_copy(theirs, ours);
    else if (what == WRITE)
      td_kernel_copy(ours, theirs);
    else
      td_kernel_add_into(ours, theirs);
  }
}

/* A node keeps its indices behind its saved variables. */
typedef struct index_node {
  td_op_node op;
  td_input_metadata self;
  bool accumulate;
  uint32_t n;
  td_saved_variable indices[TD_MAX_DIMS];
} index_node;

static void
index_release(td_node *node) {
  index_node *self = (index_node *)node;
  for (uint32_t i = 0; i < self->n; i++)
    td_saved_variable_release(&self->indices[i]);
}

#define INDEX_CLASS(name_, calc_)                                                                  \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = index_release},                   \
        .formula = td_calc_formula, .calc = (calc_)                                                \
  }

static void
save_indices(index_node *node, uint32_t n, td_tensor *const *indices) {
  node->n = n;
  for (uint32_t i = 0; i < n; i++)
    td_saved_variable_init(&node->indices[i], indices[i], false);
}

static void
unpack_indices(td_calc *c, index_node *node, td_tensor **indices) {
  td_node_lock(&node->op.node);
  for (uint32_t i = 0; i < node->n; i++) {
    indices[i] = NULL;
    if (!c->status)
      c->status =
          td_saved_variable_unpack(&node->indices[i], &node->op.node, &indices[i], c->error);
    td_calc_keep(c, indices[i]);
  }
  td_node_unlock(&node->op.node);
}

static td_tensor *
put(td_calc *c, td_tensor *self, uint32_t n, td_tensor *const *indices, td_tensor *values,
    bool accumulate) {
  td_tensor *out = NULL;
  if (!c->status) c->status = td_op_index_put(self, n, indices, values, accumulate, &out, c->error);
  return td_calc_keep(c, out);
}

static td_tensor *
index_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  index_node *node = (index_node *)op;
  td_tensor *indices[TD_MAX_DIMS], *zeros = NULL;
  unpack_indices(c, node, indices);
  if (!c->status)
    c->status = td_tensor_new(grad->dtype, grad->device, node->self.n_dims, node->self.sizes,
                              &zeros, c->error);
  td_calc_keep(c, zeros);
  return put(c, zeros, node->n, indices, grad, true);
}
static const td_op_class index_class = INDEX_CLASS("IndexBackward0", index_calc);

static td_status
new_result(const indexing *how, const td_tensor *self, td_tensor **out, td_error *error) {
  td_sizes sizes = result_sizes(how);
  return td_tensor_new_empty(self->dtype, self->device, sizes.n_dims, sizes.at, out, error);
}

td_status
td_op_index_many(td_tensor *self, uint32_t n, td_tensor *const *indices, td_tensor **out,
                 td_error *error) {
  indexing how;
  td_status status = indexing_init(&how, self, n, indices, error);
  if (!status) status = new_result(&how, self, out, error);
  if (!status) move_parts(READ, &how, self, *out);
  indexing_fini(&how);
  if (status) return status;
  index_node *node = td_op_begin(&index_class, sizeof *node, TD_INPUTS(self));
  if (!node) return TD_OK;
  node->self = td_op_metadata(self);
  save_indices(node, n, indices);
  td_op_end(&node->op, *out);
  return TD_OK;
}

td_status
td_op_index(td_tensor *self, td_tensor *indices, td_tensor **out, td_error *error) {
  return td_op_index_many(self, 1, &indices, out, error);
}

static td_status
write_parts(const indexing *how, td_tensor *self, const td_tensor *values, bool accumulate,
            td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(cast);
  TD_LOCAL(expanded);
  td_sizes sizes = result_sizes(how);
  bare = td_tensor_detach(values);
  if (values->dtype != self->dtype && values->n_dims > 0)
    return td_error_set(error, TD_DTYPE,
                        "Index put requires the source and destination dtypes match, got %s for "
                        "the destination and %s for the source.",
                        td_op_scalar_type(self->dtype), td_op_scalar_type(values->dtype));
  TD_TRY(td_kernel_cast(bare, self->dtype, &cast, error));
  if (td_op_expand(cast, sizes.n_dims, sizes.at, &expanded, NULL)) {
    char *from = td_tensor_shape_text(values), *to = td_sizes_text(sizes.n_dims, sizes.at);
    td_error_set(error, TD_SHAPE,
                 "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result "
                 "of shape %s",
                 from, to);
    free(from);
    free(to);
    return TD_SHAPE;
  }
  move_parts(accumulate ? ADD_TO : WRITE, how, self, expanded);
  return TD_OK;
}

td_status
td_index_write(td_tensor *self, uint32_t n, td_tensor *const *indices, const td_tensor *values,
               bool accumulate, td_error *error) {
  indexing how;
  td_status status = indexing_init(&how, self, n, indices, error);
  if (!status) status = write_parts(&how, self, values, accumulate, error);
  indexing_fini(&how);
  return status;
}

/* r = self with v at i:  dself = dr, but 0 at i unless v was added;  dv = dr[i] */
static td_tensor *
index_put_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  index_node *node = (index_node *)op;
  td_tensor *indices[TD_MAX_DIMS], *out = NULL;
  if (which == 0 && node->accumulate) return grad;
  unpack_indices(c, node, indices);
  if (which == 0) return put(c, grad, node->n, indices, NUMBER(grad, 0), false);
  if (!c->status) c->status = td_op_index_many(grad, node->n, indices, &out, c->error);
  return td_calc_keep(c, out);
}
static const td_op_class index_put_class = INDEX_CLASS("IndexPutBackward0", index_put_calc);

td_status
td_op_index_put(td_tensor *self, uint32_t n, td_tensor *const *indices, td_tensor *values,
                bool accumulate, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(made);
  bare = td_tensor_detach(self);
  TD_TRY(td_op_clone(bare, &made, error));
  TD_TRY(td_index_write(made, n, indices, values, accumulate, error));
  *out = TD_TAKE(made);
  index_node *node = td_op_begin(&index_put_class, sizeof *node, TD_INPUTS(self, values));
  if (!node) return TD_OK;
  node->self = td_op_metadata(self);
  node->accumulate = accumulate;
  save_indices(node, n, indices);
  td_op_end(&node->op, *out);
  return TD_OK;
}

static td_tensor *
masked_select_calc(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which) {
  td_tensor *mask = SAVED(0), *zeros = NULL;
  if (c->status) return NULL;
  c->status = td_tensor_new(grad->dtype, grad->device, mask->n_dims, mask->sizes, &zeros, c->error);
  td_calc_keep(c, zeros);
  return put(c, zeros, 1, &mask, grad, true);
}
static const td_op_class masked_select_class =
    TD_CALC_CLASS("MaskedSelectBackward0", masked_select_calc);

td_status
td_op_masked_select(td_tensor *self, td_tensor *mask, td_tensor **out, td_error *error) {
  TD_LOCAL(bare);
  TD_LOCAL(wide);
  TD_LOCAL(wide_mask);
  td_sizes a = td_op_sizes(self), b = td_op_sizes(mask), both;
  if (mask->dtype != TD_BOOL)
    return td_error_set(error, TD_DTYPE, "masked_select: expected BoolTensor for mask");
  bare = td_tensor_detach(self);
  TD_TRY(td_op_broadcast(&a, &b, &both, error));
  TD_TRY(td_op_expand(bare, both.n_dims, both.at, &wide, error));
  TD_TRY(td_op_expand(mask, both.n_dims, both.at, &wide_mask, error));
  td_tensor *indices[] = {wide_mask};
  TD_TRY(td_op_index_many(wide, 1, indices, out, error));
  td_op_node *op = td_op_begin(&masked_select_class, sizeof *op, TD_INPUTS(self));
  if (!op) return TD_OK;
  td_op_save(op, 0, wide_mask);
  td_op_end(op, *out);
  return TD_OK;
}
