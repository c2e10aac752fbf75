/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensors: a reference-counted view (sizes, strides, offset) of a reference-counted storage.
 * Threads share tensors. The metadata of a tensor is constant once others see it. A thread that
 * writes elements makes sure that no other thread does. The host can read the memory of every
 * device, so a kernel is one C function. A tensor of the meta device has no memory, and kernels
 * skip it. */
#pragma once

#include "engine/base/number_array.h"
#include "engine/base/status.h"
#include "engine/torch/tensor/dtype.h"
#include "engine/torch/tensor/storage.h"

#define TD_MAX_DIMS 8

/* The version counter of `.data`, which does not count with its storage. */
typedef struct td_own_version {
  td_refcount refs;
  td_version version;
} td_own_version;

/* What the autograd layer hangs on a tensor. Opaque here. */
typedef struct td_autograd_meta td_autograd_meta;

/* A sparse tensor in coordinate form: which pieces are there, and their values. See
 * engine/torch/tensor/sparse.h. */
typedef struct td_sparse {
  td_tensor *indices; /* (owned reference) int64 [sparse_dim, nnz] */
  td_tensor *values;  /* (owned reference) [nnz, sizes of the dense dimensions ...] */
  bool coalesced;
} td_sparse;

struct td_tensor {
  td_refcount refs;
  td_dtype dtype;
  td_device device;
  int n_dims;
  int64_t sizes[TD_MAX_DIMS];
  int64_t strides[TD_MAX_DIMS]; /* in elements */
  int64_t offset;               /* in elements */
  td_storage *storage;          /* (owned reference); of a sparse tensor: empty */
  td_sparse *sparse; /* (owned), NULL for a dense tensor; see engine/torch/tensor/sparse.h */
  td_own_version *own_version; /* (owned reference), or NULL: the storage's counter is its own */
  td_tensor *base;             /* (owned reference) the base of a differentiable view, or NULL; see
                                  engine/torch/graph/views.h */
  _Atomic uint32_t base_version; /* of a view: the version that its grad_fn is of */
  uint8_t creation;              /* of a view: td_creation */
  bool is_number;                /* made for a number beside a tensor: hooks do not see it saved */
  bool is_inference;             /* made in inference mode: no version, no history */
  td_autograd_meta *autograd;    /* (owned), or NULL; see engine/torch/graph/variable.h */
  void (*autograd_free)(td_tensor *tensor);
  void *wrapper; /* (borrowed) the embedding language's object for this tensor, guarded by its own
                    lock */
};

/* td_tensor_new_empty makes a contiguous tensor whose elements the caller writes. TD_OUT_OF_MEMORY,
 * TD_SHAPE (too many or negative sizes). factories.h makes tensors with elements. */
td_status td_tensor_new_empty(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                              td_tensor **out, td_error *error);

/* td_tensor_new_sparse makes a sparse tensor of parts that fit together. It takes new references to
 * indices and values. Aborts without memory. */
td_tensor *td_tensor_new_sparse(td_tensor *indices, td_tensor *values, int n_dims,
                                const int64_t *sizes, bool coalesced);
static inline bool
td_tensor_is_sparse(const td_tensor *tensor) {
  return tensor->sparse != NULL;
}

/* td_tensor_new_view makes a tensor with another geometry over the same storage. It shares the
 * version counter and has no autograd history. The caller guarantees that the geometry stays inside
 * the storage. */
td_tensor *td_tensor_new_view(const td_tensor *base, int n_dims, const int64_t *sizes,
                              const int64_t *strides, int64_t offset);

/* td_tensor_new_over makes a tensor in the memory of a storage, which it takes. The caller
 * guarantees that the geometry stays inside the storage. */
td_tensor *td_tensor_new_over(td_storage *storage, td_dtype dtype, td_device device, int n_dims,
                              const int64_t *sizes, const int64_t *strides, int64_t offset);

/* td_tensor_detach makes the same view again, without history. */
td_tensor *td_tensor_detach(const td_tensor *tensor);

/* td_tensor_alias makes `.data`: as td_tensor_detach, but with a version counter of its own, at 0.
 */
td_tensor *td_tensor_alias(const td_tensor *tensor);

/* td_tensor_set_data gives a tensor the dtype, device, geometry and storage of another tensor. Its
 * version stays. Nobody else may use the tensor meanwhile. */
void td_tensor_set_data(td_tensor *tensor, const td_tensor *data);

/* Inference mode of the calling thread; initially off. A tensor that is made in it is an inference
 * tensor. So is a view of an inference tensor. */
bool td_inference_mode(void);
void td_inference_mode_set(bool enabled);

td_tensor *td_tensor_ref(td_tensor *tensor); /* NULL passes through */
void td_tensor_unref(td_tensor *tensor);     /* NULL is fine */

int64_t td_tensor_n_elements(const td_tensor *tensor);
size_t td_tensor_n_bytes(const td_tensor *tensor); /* of its elements, not of its storage */
bool td_tensor_is_contiguous(const td_tensor *tensor);
/* td_tensor_is_dense: some order of the dimensions is row-major. So no two elements share a place,
 * and there are no gaps between elements. */
bool td_tensor_is_dense(const td_tensor *tensor);
bool td_tensor_same_sizes(const td_tensor *a, const td_tensor *b);

/* td_tensor_data points at the first element. NULL on the meta device. It waits for a device that
 * still works on the elements. */
void *td_tensor_data(const td_tensor *tensor);
static inline bool
td_tensor_has_data(const td_tensor *tensor) {
  return tensor->storage->data != NULL;
}

/* td_tensor_numbers describes the elements for engine/base/numbers.h. It borrows the tensor. A
 * tensor of the meta device has no elements. */
td_numbers td_tensor_numbers(const td_tensor *tensor);

/* td_tensor_get returns the element with a row-major index, td_tensor_item the only one. Of a
 * complex number they return the real part. On the meta device they return 0, and td_tensor_set
 * does nothing. The _complex functions read and write both parts of a complex number.
 * td_tensor_get_integer keeps all bits of an int64. */
double td_tensor_item(const td_tensor *tensor);
double td_tensor_get(const td_tensor *tensor, int64_t index);
int64_t td_tensor_get_integer(const td_tensor *tensor, int64_t index);
td_complex128 td_tensor_get_complex(const td_tensor *tensor, int64_t index);
void td_tensor_set(td_tensor *tensor, int64_t index, double value);
void td_tensor_set_complex(td_tensor *tensor, int64_t index, td_complex128 value);

/* td_tensor_shape_text prints "[2, 3]". The caller frees. */
char *td_tensor_shape_text(const td_tensor *tensor);
char *td_sizes_text(int n_dims, const int64_t *sizes);
