/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/sparse.h"

#include "engine/base/alloc.h"
#include "engine/torch/tensor/dense.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The code below adds bools as well. */
#pragma GCC diagnostic ignored "-Wint-in-bool-context"

static int
sparse_dim(const td_tensor *tensor) {
  return (int)tensor->sparse->indices->sizes[0];
}

static int64_t
count(const td_tensor *tensor) {
  return tensor->sparse->values->sizes[0];
}

static int64_t
index_at(const td_tensor *tensor, int dim, int64_t i) {
  const td_tensor *indices = tensor->sparse->indices;
  return ((const int64_t *)td_tensor_data(
      indices))[dim * indices->strides[0] + i * indices->strides[1]];
}

/* The i-th value, a view of the dense dimensions. */
static td_tensor *
value_at(const td_tensor *values, int64_t i) {
  return td_tensor_new_view(values, values->n_dims - 1, values->sizes + 1, values->strides + 1,
                            values->offset + i * values->strides[0]);
}

/* The piece of a dense tensor that the i-th indices name. */
static td_tensor *
place_of(const td_tensor *dense, const td_tensor *sparse, int64_t i) {
  int outer = sparse_dim(sparse);
  int64_t offset = dense->offset;
  for (int dim = 0; dim < outer; dim++)
    offset += index_at(sparse, dim, i) * dense->strides[dim];
  return td_tensor_new_view(dense, dense->n_dims - outer, dense->sizes + outer,
                            dense->strides + outer, offset);
}

static td_status
check_indices(const td_tensor *indices, const td_tensor *values, int n_dims, const int64_t *sizes,
              td_error *error) {
  if (indices->dtype != TD_INT64)
    return td_error_set(error, TD_DTYPE, "indices must be an int64 tensor");
  if (indices->n_dims != 2)
    return td_error_set(error, TD_SHAPE, "indices must be sparse_dim x nnz, but got: %dD tensor",
                        indices->n_dims);
  int outer = (int)indices->sizes[0];
  if (values->n_dims < 1 || outer + values->n_dims - 1 != n_dims)
    return td_error_set(error, TD_SHAPE,
                        "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d",
                        outer, values->n_dims - 1, n_dims);
  if (indices->sizes[1] != values->sizes[0])
    return td_error_set(error, TD_SHAPE,
                        "indices and values must have same nnz, but got nnz from indices: %lld, "
                        "nnz from values: %lld",
                        (long long)indices->sizes[1], (long long)values->sizes[0]);
  for (int dim = outer; dim < n_dims; dim++)
    if (values->sizes[dim - outer + 1] != sizes[dim]) {
      char *got = td_tensor_shape_text(values), *wanted = td_sizes_text(n_dims, sizes);
      td_error_set(error, TD_SHAPE, "values has incorrect size, expected those of %s, got %s",
                   wanted, got);
      free(got);
      free(wanted);
      return TD_SHAPE;
    }
  return TD_OK;
}

static td_status
check_range(const td_tensor *indices, const int64_t *sizes, td_error *error) {
  for (int64_t dim = 0; dim < indices->sizes[0]; dim++)
    for (int64_t i = 0; i < indices->sizes[1]; i++) {
      int64_t index = (int64_t)td_tensor_get(indices, dim * indices->sizes[1] + i);
      if (index < 0)
        return td_error_set(error, TD_INVALID, "found negative index %lld for dim %lld",
                            (long long)index, (long long)dim);
      if (index >= sizes[dim])
        return td_error_set(error, TD_INVALID,
                            "size is inconsistent with indices: for dim %lld, size is %lld but "
                            "found index %lld",
                            (long long)dim, (long long)sizes[dim], (long long)index);
    }
  return TD_OK;
}

td_status
td_sparse_new(td_tensor *indices, td_tensor *values, int n_dims, const int64_t *sizes,
              bool coalesced, td_tensor **out, td_error *error) {
  td_status status = check_indices(indices, values, n_dims, sizes, error);
  if (!status) status = check_range(indices, sizes, error);
  if (!status)
    *out = td_tensor_new_sparse(indices, values, n_dims, sizes, coalesced || values->sizes[0] < 2);
  return status;
}

td_tensor *
td_sparse_with_values(const td_tensor *tensor, td_tensor *values) {
  return td_tensor_new_sparse(tensor->sparse->indices, values, tensor->n_dims, tensor->sizes,
                              tensor->sparse->coalesced);
}

td_status
td_sparse_copy(const td_tensor *tensor, td_dtype dtype, td_device device, td_tensor **out,
               td_error *error) {
  td_tensor *indices = NULL, *values = NULL;
  td_status status = td_dense_clone(tensor->sparse->indices, TD_INT64, device, &indices, error);
  if (!status) status = td_dense_clone(tensor->sparse->values, dtype, device, &values, error);
  if (!status)
    *out = td_tensor_new_sparse(indices, values, tensor->n_dims, tensor->sizes,
                                tensor->sparse->coalesced);
  td_tensor_unref(indices);
  td_tensor_unref(values);
  return status;
}

/* A sparse tensor being written: room for `capacity` pieces, of which `n` are there. */
typedef struct builder {
  td_tensor *indices, *values; /* (owned references) */
  int64_t n, capacity;
} builder;

static td_status
builder_init(builder *self, const td_tensor *like, int64_t capacity, td_error *error) {
  *self = (builder){.capacity = capacity};
  const td_tensor *values = like->sparse->values;
  int64_t index_sizes[2] = {sparse_dim(like), capacity}, value_sizes[TD_MAX_DIMS];
  memcpy(value_sizes, values->sizes, sizeof value_sizes);
  value_sizes[0] = capacity;
  td_status status = td_tensor_new(TD_INT64, like->device, 2, index_sizes, &self->indices, error);
  if (!status)
    status = td_tensor_new(values->dtype, values->device, values->n_dims, value_sizes,
                           &self->values, error);
  if (status) td_tensor_unref(self->indices);
  return status;
}

/* Appends the indices of piece i of `from`, and adds the value to what is at their place. */
static void
builder_take(builder *self, const td_tensor *from, int64_t i, const td_tensor *value) {
  int64_t *indices = td_tensor_data(self->indices);
  for (int dim = 0; dim < sparse_dim(from); dim++)
    indices[dim * self->capacity + self->n] = index_at(from, dim, i);
  td_tensor *place = value_at(self->values, self->n);
  td_dense_add_into(place, value);
  td_tensor_unref(place);
}

static td_tensor *
contiguous_indices(td_tensor *indices) {
  td_tensor *copy = NULL;
  if (td_tensor_is_contiguous(indices)) return td_tensor_ref(indices);
  if (td_dense_clone(indices, TD_INT64, indices->device, &copy, NULL)) abort();
  return copy;
}

static td_tensor *
builder_end(builder *self, const td_tensor *like, bool coalesced) {
  td_tensor *indices = td_tensor_new_view(self->indices, 2, (int64_t[]){sparse_dim(like), self->n},
                                          self->indices->strides, 0);
  int64_t sizes[TD_MAX_DIMS];
  memcpy(sizes, self->values->sizes, sizeof sizes);
  sizes[0] = self->n;
  td_tensor *values =
      td_tensor_new_view(self->values, self->values->n_dims, sizes, self->values->strides, 0);
  td_tensor *contiguous = contiguous_indices(indices);
  td_tensor *tensor =
      td_tensor_new_sparse(contiguous, values, like->n_dims, like->sizes, coalesced);
  td_tensor *mine[] = {indices, values, contiguous, self->indices, self->values};
  for (size_t i = 0; i < TD_N_ELEMENTS(mine); i++)
    td_tensor_unref(mine[i]);
  return tensor;
}

static int
compare_pieces(const td_tensor *a, int64_t i, const td_tensor *b, int64_t j) {
  for (int dim = 0; dim < sparse_dim(a); dim++) {
    int64_t x = index_at(a, dim, i), y = index_at(b, dim, j);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

typedef struct piece {
  const td_tensor *tensor;
  int64_t i;
} piece;

static int
compare_for_sorting(const void *a, const void *b) {
  const piece *x = a, *y = b;
  int order = compare_pieces(x->tensor, x->i, y->tensor, y->i);
  return order ? order : (x->i > y->i) - (x->i < y->i);
}

td_status
td_sparse_coalesce(td_tensor *tensor, td_tensor **out, td_error *error) {
  int64_t n = count(tensor);
  if (tensor->sparse->coalesced) {
    *out = td_tensor_ref(tensor);
    return TD_OK;
  }
  builder made;
  td_status status = builder_init(&made, tensor, n, error);
  if (status) return status;
  piece *pieces = TD_NEW_N(piece, n + 1);
  for (int64_t i = 0; i < n; i++)
    pieces[i] = (piece){tensor, i};
  qsort(pieces, (size_t)n, sizeof *pieces, compare_for_sorting);
  for (int64_t i = 0; i < n; i++) {
    td_tensor *value = value_at(tensor->sparse->values, pieces[i].i);
    builder_take(&made, tensor, pieces[i].i, value);
    bool last = i + 1 == n || compare_pieces(tensor, pieces[i].i, tensor, pieces[i + 1].i) != 0;
    if (last) made.n++;
    td_tensor_unref(value);
  }
  free(pieces);
  *out = builder_end(&made, tensor, true);
  return TD_OK;
}

td_status
td_sparse_to_dense(const td_tensor *tensor, td_tensor **out, td_error *error) {
  td_status status = td_tensor_new_like(tensor, out, error);
  if (!status) td_sparse_add_into_dense(*out, tensor, 1);
  return status;
}

/* A new tensor of alpha times the value; the value itself for 1. */
static td_tensor *
scaled(td_tensor *value, double alpha) {
  td_tensor *copy = NULL;
  if (alpha == 1) return td_tensor_ref(value);
  if (td_dense_clone(value, value->dtype, value->device, &copy, NULL)) abort();
  td_walk walk;
  td_walk_init(&walk, copy->n_dims, copy->sizes, 1, (const td_tensor *[]){copy});
  TD_DISPATCH_ALL(
      copy->dtype, while (td_walk_row(&walk)) {
        T *x = walk.at[0];
        for (int64_t i = 0; i < walk.n; i++)
          x[i * walk.step[0]] = (T)(alpha * x[i * walk.step[0]]);
      })
  return copy;
}

td_status
td_sparse_add(const td_tensor *a, const td_tensor *b, double alpha, td_tensor **out,
              td_error *error) {
  int64_t i = 0, j = 0, n = count(a), m = count(b);
  builder made;
  td_status status = builder_init(&made, a, n + m, error);
  if (status) return status;
  for (; i < n || j < m; made.n++) {
    int order = i == n ? 1 : j == m ? -1 : compare_pieces(a, i, b, j);
    if (order <= 0) {
      td_tensor *value = value_at(a->sparse->values, i);
      builder_take(&made, a, i++, value);
      td_tensor_unref(value);
    }
    if (order >= 0) {
      td_tensor *value = value_at(b->sparse->values, j), *more = scaled(value, alpha);
      builder_take(&made, b, j++, more);
      td_tensor_unref(value);
      td_tensor_unref(more);
    }
  }
  *out = builder_end(&made, a, a->sparse->coalesced && b->sparse->coalesced);
  return TD_OK;
}

void
td_sparse_add_into(td_tensor *a, const td_tensor *b) {
  td_tensor *sum = NULL;
  assert(b->sparse);
  if (td_sparse_add(a, b, 1, &sum, NULL)) abort();
  td_sparse *old = a->sparse;
  a->sparse = sum->sparse;
  sum->sparse = old;
  td_tensor_unref(sum);
}

static td_tensor *
cast_values(const td_tensor *sparse, td_dtype dtype) {
  td_tensor *values = sparse->sparse->values, *cast = NULL;
  if (values->dtype == dtype) return td_tensor_ref(values);
  if (td_dense_clone(values, dtype, values->device, &cast, NULL)) abort();
  return cast;
}

void
td_sparse_add_into_dense(td_tensor *dense, const td_tensor *sparse, double alpha) {
  td_tensor *values = cast_values(sparse, dense->dtype);
  for (int64_t i = 0; i < count(sparse); i++) {
    td_tensor *value = value_at(values, i), *more = scaled(value, alpha);
    td_tensor *place = place_of(dense, sparse, i);
    td_dense_add_into(place, more);
    td_tensor_unref(place);
    td_tensor_unref(more);
    td_tensor_unref(value);
  }
  td_tensor_unref(values);
}
