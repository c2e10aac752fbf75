/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/walk.h"

#include "engine/torch/tensor/launch.h"

#include <assert.h>
#include <string.h>

static int64_t
broadcast_stride(const td_tensor *tensor, int n_dims, int dim) {
  int own = dim - (n_dims - tensor->n_dims);
  return own < 0 || tensor->sizes[own] == 1 ? 0 : tensor->strides[own];
}

/* Dimension `outer` and the one inside it are one if a step in it is as long as a whole inner row.
 */
static bool
mergeable(const td_walk *walk, int outer, int64_t inner_size, const int64_t *outer_strides) {
  for (int i = 0; i < walk->n_tensors; i++)
    if (outer_strides[i] != walk->strides[i][outer] * inner_size) return false;
  return true;
}

/* Stores the merged dimensions innermost first, strides in elements. */
static void
merge_dims(td_walk *walk, int n_dims, const int64_t *sizes, const td_tensor *const *tensors) {
  int kept = 0;
  for (int dim = n_dims - 1; dim >= 0; dim--) {
    if (sizes[dim] == 1) continue;
    int64_t strides[TD_WALK_MAX];
    for (int i = 0; i < walk->n_tensors; i++)
      strides[i] = broadcast_stride(tensors[i], n_dims, dim);
    if (kept > 0 && mergeable(walk, kept - 1, walk->sizes[kept - 1], strides)) {
      walk->sizes[kept - 1] *= sizes[dim];
      continue;
    }
    walk->sizes[kept] = sizes[dim];
    for (int i = 0; i < walk->n_tensors; i++)
      walk->strides[i][kept] = strides[i];
    kept++;
  }
  walk->n_dims = kept;
}

/* The innermost dimension becomes the row. */
static void
take_row(td_walk *walk, const td_tensor *const *tensors) {
  bool has_row = walk->n_dims > 0;
  walk->n = has_row ? walk->sizes[0] : 1;
  walk->dense = true;
  if (has_row) walk->n_dims--;
  for (int i = 0; i < walk->n_tensors; i++) {
    walk->step[i] = has_row ? walk->strides[i][0] : 1;
    walk->dense = walk->dense && walk->step[i] == 1;
    int64_t element = (int64_t)td_dtype_size(tensors[i]->dtype);
    for (int dim = 0; dim < walk->n_dims; dim++)
      walk->strides[i][dim] = walk->strides[i][dim + 1] * element;
  }
  memmove(walk->sizes, walk->sizes + 1, (size_t)walk->n_dims * sizeof *walk->sizes);
}

/* As td_tensor_data, but without waiting for the device: td_launch has let this kernel in. */
static void *
first_element(const td_tensor *tensor) {
  if (!td_tensor_has_data(tensor)) return NULL;
  return (char *)tensor->storage->data + tensor->offset * (int64_t)td_dtype_size(tensor->dtype);
}

/* Kernels see elements of a storage dtype one after the other, or one that repeats. */
static void
take_parts(td_walk *walk, int n_written, const td_tensor *const *tensors) {
  td_walk_parts *parts = &walk->parts;
  parts->n_written = n_written;
  parts->n = walk->n;
  parts->done = parts->n;
  walk->dense = true;
  for (int i = 0; i < walk->n_tensors; i++) {
    parts->dtypes[i] = tensors[i]->dtype;
    parts->used[i] = td_dtype_is_storage(tensors[i]->dtype);
    parts->row[i] = walk->at[i];
    parts->step[i] = walk->step[i];
    if (parts->used[i]) walk->step[i] = walk->step[i] != 0;
    walk->dense = walk->dense && walk->step[i] == 1;
  }
}

static void
prepare(td_walk *walk, int n_written, bool has_elements, int n_dims, const int64_t *sizes,
        int n_tensors, const td_tensor *const *tensors) {
  walk->n_tensors = n_tensors;
  walk->started = false;
  walk->empty = !has_elements;
  for (int dim = 0; dim < n_dims; dim++)
    if (sizes[dim] == 0) walk->empty = true;
  for (int i = 0; i < n_tensors; i++)
    walk->at[i] = first_element(tensors[i]);
  merge_dims(walk, n_dims, sizes, tensors);
  take_row(walk, tensors);
  memset(walk->index, 0, sizeof walk->index);
  walk->in_parts = false;
  for (int i = 0; i < n_tensors; i++)
    if (__builtin_expect(td_dtype_is_storage(tensors[i]->dtype), 0)) walk->in_parts = true;
  if (walk->in_parts) take_parts(walk, n_written, tensors);
}

void
td_walk_init_with(td_walk *walk, const char *kernel, double parameter, int n_written, int n_dims,
                  const int64_t *sizes, int n_tensors, const td_tensor *const *tensors) {
  td_kernel_call call = {.name = kernel,
                         .n_written = n_written,
                         .n_tensors = n_tensors,
                         .tensors = tensors,
                         .sizes = sizes,
                         .n_dims = n_dims,
                         .parameter = parameter};
  bool has_elements = td_launch(&call);
  prepare(walk, n_written, has_elements, n_dims, sizes, n_tensors, tensors);
}

void
td_walk_init_lines_named(td_walk *walk, const char *kernel, int dim, int n_tensors,
                         const td_tensor *const *tensors) {
  td_tensor firsts[TD_WALK_MAX];
  const td_tensor *pointers[TD_WALK_MAX];
  for (int i = 0; i < n_tensors; i++) {
    firsts[i] = *tensors[i];
    if (firsts[i].n_dims > 0) firsts[i].sizes[dim] = 1;
    pointers[i] = &firsts[i];
  }
  td_kernel_call call = {
      .name = kernel, .n_written = 1, .n_tensors = n_tensors, .tensors = tensors};
  bool has_elements = td_launch(&call);
  for (int i = 0; i < n_tensors; i++)
    assert(!td_dtype_is_storage(tensors[i]->dtype));
  prepare(walk, 1, has_elements, firsts[0].n_dims, firsts[0].sizes, n_tensors, pointers);
}

/* Moves `at` to the next row; false after the last. */
static inline bool
next_row(td_walk *walk, void **at) {
  if (!walk->started) {
    walk->started = true;
    return !walk->empty;
  }
  for (int dim = 0; dim < walk->n_dims; dim++) {
    bool carry = ++walk->index[dim] == walk->sizes[dim];
    int64_t steps = carry ? 1 - walk->sizes[dim] : 1;
    for (int i = 0; i < walk->n_tensors; i++)
      at[i] = (char *)at[i] + steps * walk->strides[i][dim];
    if (!carry) return true;
    walk->index[dim] = 0;
  }
  return false;
}

/* Where the part of tensor i is in memory. */
static void *
part_at(const td_walk_parts *parts, int i) {
  int64_t element = (int64_t)td_dtype_size(parts->dtypes[i]);
  return (char *)parts->row[i] + parts->done * parts->step[i] * element;
}

static int64_t
n_apart(const td_walk *walk, int i) {
  return walk->step[i] == 0 ? 1 : walk->n;
}

static void
store_part(td_walk *walk) {
  const td_walk_parts *parts = &walk->parts;
  for (int i = 0; i < parts->n_written; i++)
    if (parts->used[i])
      td_dtype_store(parts->dtypes[i], part_at(parts, i), parts->elements[i], parts->step[i],
                     n_apart(walk, i));
}

static void
load_part(td_walk *walk) {
  td_walk_parts *parts = &walk->parts;
  for (int i = 0; i < walk->n_tensors; i++) {
    walk->at[i] = parts->used[i] ? parts->elements[i] : part_at(parts, i);
    if (parts->used[i])
      td_dtype_load(parts->dtypes[i], parts->elements[i], part_at(parts, i), parts->step[i],
                    n_apart(walk, i));
  }
}

static bool
next_part(td_walk *walk) {
  td_walk_parts *parts = &walk->parts;
  if (walk->started && !walk->empty) {
    store_part(walk);
    parts->done += walk->n;
  }
  if (parts->done == parts->n) {
    if (!next_row(walk, parts->row)) return false;
    parts->done = 0;
  }
  walk->n = parts->n - parts->done < TD_WALK_PART ? parts->n - parts->done : TD_WALK_PART;
  load_part(walk);
  return true;
}

bool
td_walk_row(td_walk *walk) {
  if (__builtin_expect(walk->in_parts, 0)) return next_part(walk);
  return next_row(walk, walk->at);
}
