/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/device/cuda_calls.h"

#include "engine/base/alloc.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)TD_FLOAT32 == TD_CUDA_FLOAT32 && (int)TD_FLOAT64 == TD_CUDA_FLOAT64 &&
                   (int)TD_INT64 == TD_CUDA_INT64 && (int)TD_BOOL == TD_CUDA_BOOL &&
                   (int)TD_INT32 == TD_CUDA_INT32 && TD_MAX_DIMS == TD_CUDA_MAX_DIMS,
               "dtypes and dimensions are the same on both sides");

/* "add" of "add.out"; false for names that do not say which function it is. */
static bool
function_name(const char *name, char *out, size_t size) {
  const char *suffix = strstr(name, ".out");
  if (!suffix || suffix[4] != '\0') return false;
  snprintf(out, size, "%.*s", (int)(suffix - name), name);
  return true;
}

static void *
first_element(const td_tensor *tensor) {
  return (char *)tensor->storage->data + tensor->offset * (int64_t)td_dtype_size(tensor->dtype);
}

/* Strides over the sizes that the tensor broadcasts to. */
static void
broadcast_strides(const td_kernel_call *call, const td_tensor *tensor, int64_t *strides) {
  int leading = call->n_dims - tensor->n_dims;
  for (int dim = 0; dim < call->n_dims; dim++) {
    bool repeats = dim < leading || tensor->sizes[dim - leading] == 1;
    strides[dim] = repeats ? 0 : tensor->strides[dim - leading];
  }
}

/* A number of the CPU goes along with the launch; no other memory of the host does. */
static bool
operand_of(const td_kernel_call *call, int i, td_cuda_operand *out) {
  const td_tensor *tensor = call->tensors[i];
  if (!tensor || tensor->sparse || (int)tensor->dtype >= TD_CUDA_N_DTYPES) return false;
  *out = (td_cuda_operand){.dtype = (int32_t)tensor->dtype};
  if (tensor->device == TD_CPU) {
    if (i == 0 || td_tensor_n_elements(tensor) != 1) return false;
    out->number = td_tensor_item(tensor);
    return tensor->dtype != TD_INT64 || (out->number < 1e15 && out->number > -1e15);
  }
  out->data = first_element(tensor);
  broadcast_strides(call, tensor, out->strides);
  return true;
}

static bool
is_on_one_device(const td_kernel_call *call) {
  for (int i = 1; i < call->n_tensors; i++)
    if (call->tensors[i] && call->tensors[i]->device >= 0 &&
        call->tensors[i]->device != call->tensors[0]->device)
      return false;
  return call->n_tensors > 0 && call->tensors[0] && call->tensors[0]->device >= 0;
}

static bool
launch(const td_cuda_module *module, int ordinal, void *stream, const char *function,
       const td_kernel_call *call, const char **error) {
  td_cuda_launch wanted = {.kernel = module->find(function),
                           .n_dims = call->n_dims,
                           .n_operands = call->n_tensors,
                           .parameter = call->parameter};
  if (wanted.kernel < 0 || call->n_tensors > TD_CUDA_MAX_OPERANDS) return false;
  memcpy(wanted.sizes, call->sizes, (size_t)call->n_dims * sizeof *call->sizes);
  for (int i = 0; i < call->n_tensors; i++)
    if (!operand_of(call, i, &wanted.operands[i])) return false;
  return module->launch(ordinal, stream, &wanted, error);
}

/* The last two dimensions are a matrix's, one before them counts matrices. */
static bool
product_of(const td_kernel_call *call, td_cuda_product *out) {
  const td_tensor *c = call->tensors[0], *a = call->tensors[1], *b = call->tensors[2];
  int dims = c->n_dims, row = dims - 2, column = dims - 1;
  if (c->dtype != a->dtype || c->dtype != b->dtype || a->n_dims != dims || b->n_dims != dims)
    return false;
  if (a->device < 0 || b->device < 0) return false;
  *out = (td_cuda_product){.dtype = (int32_t)c->dtype,
                           .n_batches = dims == 3 ? c->sizes[0] : 1,
                           .n = c->sizes[row],
                           .k = a->sizes[column],
                           .m = c->sizes[column]};
#define SIDE(x)                                                                                    \
  out->x.data = first_element(x), out->x.batch = dims == 3 ? x->strides[0] : 0,                    \
  out->x.row = x->strides[row], out->x.column = x->strides[column]
  SIDE(a), SIDE(b), SIDE(c);
#undef SIDE
  return true;
}

static bool
multiply(const td_cuda_module *module, int ordinal, void *stream, const td_kernel_call *call,
         const char **error) {
  td_cuda_product product;
  return product_of(call, &product) && module->multiply(ordinal, stream, &product, error);
}

bool
td_cuda_call(const td_cuda_module *module, int ordinal, void *stream, const td_kernel_call *call,
             const char **error) {
  char function[32];
  *error = NULL;
  if (!function_name(call->name, function, sizeof function) || !is_on_one_device(call))
    return false;
  if (strcmp(function, "mm") == 0 || strcmp(function, "bmm") == 0)
    return multiply(module, ordinal, stream, call, error);
  return call->sizes && launch(module, ordinal, stream, function, call, error);
}
