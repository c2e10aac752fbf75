/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/layout.h"

#include <string.h>

typedef struct shape {
  int n_dims;
  const int64_t *sizes;
} shape;

static bool
is_row_major(const td_tensor *tensor) {
  int64_t stride = 1;
  for (int dim = tensor->n_dims - 1; dim >= 0; stride *= tensor->sizes[dim--])
    if (tensor->strides[dim] != stride) return false;
  return true;
}

static bool
all_row_major(int n, const td_tensor *const *operands) {
  for (int i = 0; i < n; i++)
    if (!is_row_major(operands[i])) return false;
  return true;
}

static bool
has_shape(const td_tensor *tensor, shape wanted) {
  return tensor->n_dims == wanted.n_dims &&
         memcmp(tensor->sizes, wanted.sizes, (size_t)wanted.n_dims * sizeof(int64_t)) == 0;
}

/* Whether no operand is broadcast, all lie without gaps, and all in the same way: *row_major tells
 * that this is the plain way. */
static bool
all_alike(shape wanted, int n, const td_tensor *const *operands, bool *row_major) {
  bool alike = true;
  *row_major = true;
  for (int i = 0; i < n; i++) {
    if (!has_shape(operands[i], wanted)) return false;
    *row_major = *row_major && td_tensor_is_contiguous(operands[i]);
    alike = alike && td_tensor_is_dense(operands[i]) &&
            memcmp(operands[i]->strides, operands[0]->strides,
                   (size_t)wanted.n_dims * sizeof(int64_t)) == 0;
  }
  return alike || *row_major;
}

static int64_t
stride_of(const td_tensor *tensor, shape wanted, int dim) {
  int own = dim - (wanted.n_dims - tensor->n_dims);
  bool is_repeated = own < 0 || (tensor->sizes[own] == 1 && wanted.sizes[dim] != 1);
  return is_repeated ? 0 : tensor->strides[own] * (int64_t)td_dtype_size(tensor->dtype);
}

/* 1 if the first dimension belongs outside the second, -1 if inside, 0 if no operand can tell. */
static int
compare(shape wanted, int n, const td_tensor *const *operands, int first, int second) {
  for (int i = 0; i < n; i++) {
    int64_t a = stride_of(operands[i], wanted, first), b = stride_of(operands[i], wanted, second);
    if (a == 0 || b == 0) continue;
    if (a != b) return a > b ? 1 : -1;
    if (wanted.sizes[first] > wanted.sizes[second]) return 1;
  }
  return 0;
}

/* Sorts the dimensions, the innermost first, by insertion: what cannot be told stays. */
static void
sort_dims(shape wanted, int n, const td_tensor *const *operands, int *order) {
  for (int i = 0; i < wanted.n_dims; i++)
    order[i] = wanted.n_dims - 1 - i;
  for (int i = 1; i < wanted.n_dims; i++) {
    int at = i;
    for (int before = i - 1; before >= 0; before--) {
      int which = compare(wanted, n, operands, order[before], order[at]);
      if (which < 0) break;
      if (which == 0) continue;
      int moved = order[before];
      order[before] = order[at];
      order[at] = moved;
      at = before;
    }
  }
}

static void
strides_of(shape wanted, int n, const td_tensor *const *operands, int64_t *strides) {
  bool row_major;
  int order[TD_MAX_DIMS];
  bool alike = all_alike(wanted, n, operands, &row_major);
  if (alike && !row_major) {
    memcpy(strides, operands[0]->strides, (size_t)wanted.n_dims * sizeof *strides);
    return;
  }
  if (!alike) sort_dims(wanted, n, operands, order);
  int64_t stride = 1;
  for (int i = 0; i < wanted.n_dims; i++) {
    int dim = alike ? wanted.n_dims - 1 - i : order[i];
    strides[dim] = stride;
    stride *= wanted.sizes[dim] ? wanted.sizes[dim] : 1;
  }
}

td_status
td_tensor_laid_out(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                   int n_operands, const td_tensor *const *operands, td_tensor **out,
                   td_error *error) {
  td_status status = td_tensor_new_empty(dtype, device, n_dims, sizes, out, error);
  if (!status && n_dims > 1 && !all_row_major(n_operands, operands))
    strides_of((shape){n_dims, sizes}, n_operands, operands, (*out)->strides);
  return status;
}

td_status
td_tensor_laid_out_like(const td_tensor *operand, td_dtype dtype, td_device device, td_tensor **out,
                        td_error *error) {
  return td_tensor_laid_out(dtype, device, operand->n_dims, operand->sizes, 1, &operand, out,
                            error);
}

static const struct {
  const char *name;
  int n_dims; /* 0: any */
} formats[TD_N_FORMATS] = {
    [TD_FORMAT_PRESERVE] = {"preserve_format", 0},
    [TD_FORMAT_CONTIGUOUS] = {"contiguous_format", 0},
    [TD_FORMAT_CHANNELS_LAST] = {"channels_last", 4},
    [TD_FORMAT_CHANNELS_LAST_3D] = {"channels_last_3d", 5},
};

const char *
td_memory_format_name(td_memory_format format) {
  return formats[format].name;
}

/* The dimension that is the i-th from the innermost one. */
static int
dim_from_inside(int n_dims, bool channels_last, int i) {
  if (!channels_last || i == n_dims - 1) return n_dims - 1 - i;
  return i == 0 ? 1 : n_dims - i;
}

static void
format_strides(int n_dims, const int64_t *sizes, td_memory_format format, int64_t *strides) {
  int64_t stride = 1;
  for (int i = 0; i < n_dims; i++) {
    int dim = dim_from_inside(n_dims, formats[format].n_dims, i);
    strides[dim] = stride;
    stride *= sizes[dim] > 1 ? sizes[dim] : 1;
  }
}

bool
td_tensor_has_format(const td_tensor *tensor, td_memory_format format) {
  int64_t strides[TD_MAX_DIMS] = {0};
  if (formats[format].n_dims && formats[format].n_dims != tensor->n_dims) return false;
  format_strides(tensor->n_dims, tensor->sizes, format, strides);
  for (int dim = 0; dim < tensor->n_dims; dim++)
    if (tensor->sizes[dim] > 1 && tensor->strides[dim] != strides[dim]) return false;
  return true;
}

/* As PyTorch decides it: dimensions of size 1 count too. */
static bool
has_channels_innermost(const td_tensor *tensor) {
  int n = tensor->n_dims;
  int64_t least = 0;
  if (n < 4 || n > 5 || tensor->strides[1] == 0) return false;
  for (int i = 0; i < n; i++) {
    int dim = dim_from_inside(n, true, i);
    if (tensor->sizes[dim] == 0 || tensor->strides[dim] < least) return false;
    if (dim == 0 && least == tensor->strides[1]) return false;
    least = tensor->strides[dim] * (tensor->sizes[dim] > 1 ? tensor->sizes[dim] : 1);
  }
  return true;
}

bool
td_tensor_suggests(const td_tensor *tensor, td_memory_format format) {
  bool innermost = has_channels_innermost(tensor);
  return formats[format].n_dims ? innermost && formats[format].n_dims == tensor->n_dims
                                : !innermost;
}

td_status
td_tensor_new_in_format(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                        td_memory_format format, td_tensor **out, td_error *error) {
  int64_t strides[TD_MAX_DIMS], n = 1;
  td_tensor *flat;
  if (formats[format].n_dims && formats[format].n_dims != n_dims)
    return td_error_set(error, TD_SHAPE, "required rank %d tensor to use %s format",
                        formats[format].n_dims, formats[format].name);
  for (int dim = 0; dim < n_dims; dim++)
    n *= sizes[dim];
  td_status status = td_tensor_new_empty(dtype, device, 1, &n, &flat, error);
  if (status) return status;
  format_strides(n_dims, sizes, format, strides);
  *out = td_tensor_new_view(flat, n_dims, sizes, strides, 0);
  td_tensor_unref(flat);
  return TD_OK;
}
