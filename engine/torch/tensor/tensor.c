/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/tensor.h"

#include "engine/base/alloc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static _Thread_local bool inference_mode;

bool
td_inference_mode(void) {
  return inference_mode;
}

void
td_inference_mode_set(bool enabled) {
  inference_mode = enabled;
}

static td_tensor *
tensor_new(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
           const int64_t *strides, int64_t offset, td_storage *storage) {
  td_tensor *tensor = td_alloc(1, sizeof *tensor);
  td_refcount_init(&tensor->refs);
  tensor->dtype = dtype;
  tensor->device = device;
  tensor->n_dims = n_dims;
  for (int dim = 0; dim < n_dims; dim++) {
    tensor->sizes[dim] = sizes[dim];
    tensor->strides[dim] = strides[dim];
  }
  tensor->offset = offset;
  tensor->storage = storage;
  tensor->is_inference = inference_mode;
  return tensor;
}

static td_status
check_sizes(int n_dims, const int64_t *sizes, td_error *error) {
  if (n_dims < 0 || n_dims > TD_MAX_DIMS)
    return td_error_set(error, TD_SHAPE, "a tensor has at most %d dimensions, not %d", TD_MAX_DIMS,
                        n_dims);
  for (int dim = 0; dim < n_dims; dim++) {
    if (sizes[dim] >= 0) continue;
    char *text = td_sizes_text(n_dims, sizes);
    td_error_set(error, TD_SHAPE, "Trying to create tensor with negative dimension %lld: %s",
                 (long long)sizes[dim], text);
    free(text);
    return TD_SHAPE;
  }
  return TD_OK;
}

/* Fills row-major strides; false when the number of bytes does not fit into n_bytes. */
static bool
contiguous_strides(td_dtype dtype, int n_dims, const int64_t *sizes, int64_t *strides,
                   size_t *n_bytes) {
  int64_t stride = 1, bytes = (int64_t)td_dtype_size(dtype);
  bool empty = false;
  for (int dim = n_dims - 1; dim >= 0; dim--) {
    strides[dim] = stride;
    empty = empty || sizes[dim] == 0;
    if (__builtin_mul_overflow(stride, TD_MAX(sizes[dim], 1), &stride)) return false;
    if (__builtin_mul_overflow(bytes, TD_MAX(sizes[dim], 1), &bytes)) return false;
  }
  *n_bytes = empty ? 0 : (size_t)bytes;
  return true;
}

td_status
td_tensor_new_empty(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                    td_tensor **out, td_error *error) {
  td_status status = check_sizes(n_dims, sizes, error);
  if (status) return status;
  int64_t strides[TD_MAX_DIMS];
  size_t n_bytes = SIZE_MAX;
  bool fits = contiguous_strides(dtype, n_dims, sizes, strides, &n_bytes);
  td_storage *storage = fits ? td_storage_new(device, n_bytes) : NULL;
  if (!storage) {
    char *text = td_sizes_text(n_dims, sizes);
    td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a %s tensor of sizes %s",
                 td_dtype_name(dtype), text);
    free(text);
    return TD_OUT_OF_MEMORY;
  }
  *out = tensor_new(dtype, device, n_dims, sizes, strides, 0, storage);
  return TD_OK;
}

td_tensor *
td_tensor_new_sparse(td_tensor *indices, td_tensor *values, int n_dims, const int64_t *sizes,
                     bool coalesced) {
  td_tensor *tensor = NULL;
  int64_t nothing = 0;
  if (td_tensor_new_empty(values->dtype, values->device, 1, &nothing, &tensor, NULL)) abort();
  tensor->n_dims = n_dims;
  for (int dim = 0; dim < n_dims; dim++)
    tensor->sizes[dim] = sizes[dim];
  tensor->strides[0] = 0;
  tensor->sparse = td_alloc(1, sizeof *tensor->sparse);
  *tensor->sparse = (td_sparse){td_tensor_ref(indices), td_tensor_ref(values), coalesced};
  return tensor;
}

td_tensor *
td_tensor_new_over(td_storage *storage, td_dtype dtype, td_device device, int n_dims,
                   const int64_t *sizes, const int64_t *strides, int64_t offset) {
  return tensor_new(dtype, device, n_dims, sizes, strides, offset, storage);
}

td_tensor *
td_tensor_new_view(const td_tensor *base, int n_dims, const int64_t *sizes, const int64_t *strides,
                   int64_t offset) {
  assert(n_dims >= 0 && n_dims <= TD_MAX_DIMS);
  td_refcount_inc(&base->storage->refs);
  td_tensor *view =
      tensor_new(base->dtype, base->device, n_dims, sizes, strides, offset, base->storage);
  view->is_inference = base->is_inference;
  view->own_version = base->own_version;
  if (view->own_version) td_refcount_inc(&view->own_version->refs);
  return view;
}

td_tensor *
td_tensor_detach(const td_tensor *tensor) {
  const td_sparse *sparse = tensor->sparse;
  if (sparse)
    return td_tensor_new_sparse(sparse->indices, sparse->values, tensor->n_dims, tensor->sizes,
                                sparse->coalesced);
  return td_tensor_new_view(tensor, tensor->n_dims, tensor->sizes, tensor->strides, tensor->offset);
}

static td_own_version *
own_version_new(uint32_t count) {
  td_own_version *own = TD_NEW(td_own_version);
  td_refcount_init(&own->refs);
  atomic_init(&own->version.count, count);
  return own;
}

static void
own_version_unref(td_own_version *own) {
  if (own && td_refcount_dec(&own->refs)) free(own);
}

td_tensor *
td_tensor_alias(const td_tensor *tensor) {
  td_tensor *alias = td_tensor_detach(tensor);
  own_version_unref(alias->own_version);
  alias->own_version = own_version_new(0);
  return alias;
}

/* The tensor leaves its storage, and takes along what its counter says. */
static void
count_for_itself(td_tensor *tensor) {
  td_version *version =
      tensor->own_version ? &tensor->own_version->version : &tensor->storage->version;
  td_own_version *own = own_version_new(atomic_load(&version->count));
  own_version_unref(tensor->own_version);
  tensor->own_version = own;
}

void
td_tensor_set_data(td_tensor *tensor, const td_tensor *data) {
  if (data->storage != tensor->storage) count_for_itself(tensor);
  td_refcount_inc(&data->storage->refs);
  td_storage_unref(tensor->storage);
  tensor->storage = data->storage;
  tensor->dtype = data->dtype;
  tensor->device = data->device;
  tensor->n_dims = data->n_dims;
  memcpy(tensor->sizes, data->sizes, sizeof tensor->sizes);
  memcpy(tensor->strides, data->strides, sizeof tensor->strides);
  tensor->offset = data->offset;
}

td_tensor *
td_tensor_ref(td_tensor *tensor) {
  if (tensor) td_refcount_inc(&tensor->refs);
  return tensor;
}

static void
sparse_free(td_sparse *sparse) {
  td_tensor_unref(sparse->indices);
  td_tensor_unref(sparse->values);
  free(sparse);
}

void
td_tensor_unref(td_tensor *tensor) {
  if (!tensor || !td_refcount_dec(&tensor->refs)) return;
  if (tensor->autograd_free) tensor->autograd_free(tensor);
  if (tensor->base) td_tensor_unref(tensor->base);
  own_version_unref(tensor->own_version);
  td_storage_unref(tensor->storage);
  if (tensor->sparse) sparse_free(tensor->sparse);
  free(tensor);
}

int64_t
td_tensor_n_elements(const td_tensor *tensor) {
  int64_t n = 1;
  for (int dim = 0; dim < tensor->n_dims; dim++)
    n *= tensor->sizes[dim];
  return n;
}

size_t
td_tensor_n_bytes(const td_tensor *tensor) {
  return (size_t)td_tensor_n_elements(tensor) * td_dtype_size(tensor->dtype);
}

bool
td_tensor_is_dense(const td_tensor *tensor) {
  int64_t expected = 1;
  bool used[TD_MAX_DIMS] = {false};
  for (int n = 0; n < tensor->n_dims; n++) {
    int next = -1;
    for (int dim = 0; dim < tensor->n_dims && next < 0; dim++)
      if (!used[dim] && (tensor->sizes[dim] <= 1 || tensor->strides[dim] == expected)) next = dim;
    if (next < 0) return false;
    used[next] = true;
    expected *= tensor->sizes[next];
  }
  return true;
}

bool
td_tensor_is_contiguous(const td_tensor *tensor) {
  int64_t expected = 1;
  bool contiguous = true;
  for (int dim = tensor->n_dims - 1; dim >= 0; dim--) {
    if (tensor->sizes[dim] == 0) return true;
    if (tensor->sizes[dim] != 1 && tensor->strides[dim] != expected) contiguous = false;
    expected *= tensor->sizes[dim];
  }
  return contiguous;
}

bool
td_tensor_same_sizes(const td_tensor *a, const td_tensor *b) {
  return a->n_dims == b->n_dims &&
         memcmp(a->sizes, b->sizes, (size_t)a->n_dims * sizeof *a->sizes) == 0;
}

void *
td_tensor_data(const td_tensor *tensor) {
  if (!td_tensor_has_data(tensor)) return NULL;
  if (__builtin_expect(tensor->storage->memory != NULL, 0))
    td_accelerators_now->host_access(tensor->storage);
  return (char *)tensor->storage->data + tensor->offset * (int64_t)td_dtype_size(tensor->dtype);
}

td_numbers
td_tensor_numbers(const td_tensor *tensor) {
  static const td_number_type types[TD_N_DTYPES] = {
#define X(name, ...) [TD_##name] = TD_NUMBER_##name,
      TD_DTYPES(X)
#undef X
  };
  if (tensor->sparse) return td_tensor_numbers(tensor->sparse->values);
  static const int64_t none = 0;
  bool has_data = td_tensor_has_data(tensor);
  return (td_numbers){.data = td_tensor_data(tensor),
                      .type = types[tensor->dtype],
                      .n_dims = has_data ? tensor->n_dims : 1,
                      .sizes = has_data ? tensor->sizes : &none,
                      .strides = tensor->strides};
}

char *
td_tensor_shape_text(const td_tensor *tensor) {
  return td_sizes_text(tensor->n_dims, tensor->sizes);
}

char *
td_sizes_text(int n_dims, const int64_t *sizes) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) abort();
  putc('[', stream);
  for (int dim = 0; dim < n_dims; dim++)
    fprintf(stream, "%s%lld", dim ? ", " : "", (long long)sizes[dim]);
  putc(']', stream);
  fclose(stream);
  return text;
}
