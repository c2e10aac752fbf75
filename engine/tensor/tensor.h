/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensors: a reference-counted view (sizes, strides, offset) of a reference-counted storage.
 * Tensors are shared between threads; their metadata is constant once they are handed out, and
 * whoever writes their elements sees to it that nobody else does. Memory of every device of this
 * program is host memory (simulated devices), so a kernel is one C function; tensors of the meta
 * device have none, and kernels pass over them. */
#pragma once

#include "engine/base/numbers.h"
#include "engine/base/refcount.h"
#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_MAX_DIMS 8

/* TD_DTYPE(constant, name as PyTorch prints it, C type) */
#define TD_DTYPES(X)                                                                               \
  X(FLOAT32, "torch.float32", float)                                                               \
  X(FLOAT64, "torch.float64", double)                                                              \
  X(INT64, "torch.int64", int64_t)                                                                 \
  X(BOOL, "torch.bool", bool)                                                                      \
  X(INT32, "torch.int32", int32_t)                                                                 \
  X(COMPLEX64, "torch.complex64", td_complex64)                                                    \
  X(COMPLEX128, "torch.complex128", td_complex128)
typedef float _Complex td_complex64;
typedef double _Complex td_complex128;

typedef enum td_dtype {
#define X(name, text, ctype) TD_##name,
  TD_DTYPES(X)
#undef X
      TD_N_DTYPES
} td_dtype;

size_t td_dtype_size(td_dtype dtype);
const char *td_dtype_name(td_dtype dtype);        /* "torch.float32" */
const char *td_dtype_tensor_name(td_dtype dtype); /* "FloatTensor": of tensors of it */
static inline bool
td_dtype_is_floating(td_dtype dtype) {
  return dtype == TD_FLOAT32 || dtype == TD_FLOAT64;
}
static inline bool
td_dtype_is_complex(td_dtype dtype) {
  return dtype == TD_COMPLEX64 || dtype == TD_COMPLEX128;
}
/* td_dtype_is_differentiable: tensors of it may have gradients. */
static inline bool
td_dtype_is_differentiable(td_dtype dtype) {
  return td_dtype_is_floating(dtype) || td_dtype_is_complex(dtype);
}

/* TD_CPU or the index of an accelerator (engine/device/device.h). Same numbers as events' DEVICE
 * fields. */
typedef int32_t td_device;
#define TD_CPU ((td_device)-1)
#define TD_META ((td_device)-3) /* tensors with sizes and no elements; -2 is no device at all */

/* Counts the writes in place into elements that tensors share. Any thread. See
 * engine/graph/version.h. */
typedef struct td_version {
  _Atomic uint32_t count;
  _Atomic uint32_t id;           /* in events, or 0: given when a recording first meets it */
  const char *_Atomic operation; /* that wrote last, a literal: "add_"; means nothing at count 0 */
} td_version;

/* A counter that is not its storage's: of `.data`. */
typedef struct td_own_version {
  td_refcount refs;
  td_version version;
} td_own_version;

typedef struct td_storage {
  td_refcount refs;
  td_version version;
  size_t n_bytes;
  struct td_device_memory *memory; /* (owned) what engine/device knows of it; NULL on the host */
  void *data; /* 64-byte aligned, behind this header in the same block; NULL: meta device */
} td_storage;

/* What the autograd layer hangs on a tensor; opaque here. The first member frees the whole. */
typedef struct td_autograd_meta td_autograd_meta;

typedef struct td_tensor td_tensor;
struct td_tensor {
  td_refcount refs;
  td_dtype dtype;
  td_device device;
  int n_dims;
  int64_t sizes[TD_MAX_DIMS];
  int64_t strides[TD_MAX_DIMS]; /* in elements */
  int64_t offset;               /* in elements */
  td_storage *storage;          /* (owned reference); of a sparse tensor: empty */
  struct td_sparse *sparse;     /* (owned), NULL for a dense tensor; see engine/tensor/sparse.h */
  td_own_version *own_version;  /* (owned reference), or NULL: the storage's counter is its own */
  td_tensor *base; /* (owned reference) what a differentiable view was taken of, or NULL;
                      see engine/graph/views.h */
  _Atomic uint32_t base_version; /* of a view: the version that its grad_fn is of */
  uint8_t creation;              /* of a view: td_creation */
  bool is_number;                /* made for a number beside a tensor: hooks do not see it saved */
  bool is_inference;             /* made in inference mode: no version, no history */
  td_autograd_meta *autograd;    /* (owned), or NULL; see engine/graph/variable.h */
  void (*autograd_free)(td_tensor *tensor);
  void *wrapper; /* (borrowed) the embedding language's object for this tensor, guarded by its own
                    lock */
};

/* td_tensor_new makes a contiguous tensor of zeros. TD_OUT_OF_MEMORY, TD_SHAPE (too many or
 * negative sizes). */
td_status td_tensor_new(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                        td_tensor **out, td_error *error);

/* td_tensor_new_empty is td_tensor_new without the zeros: for a kernel that writes every element.
 */
td_status td_tensor_new_empty(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
                              td_tensor **out, td_error *error);

/* td_tensor_new_like is td_tensor_new with the dtype, device and sizes of another tensor. */
td_status td_tensor_new_like(const td_tensor *like, td_tensor **out, td_error *error);

/* td_tensor_new_scalar makes a 0-dimensional tensor that holds value. Aborts without memory. */
td_tensor *td_tensor_new_scalar(td_dtype dtype, td_device device, double value);

/* td_tensor_new_view makes a tensor over the same storage with another geometry, without autograd
 * history, which shares the version counter. The caller guarantees that the geometry stays inside
 * the storage. */
td_tensor *td_tensor_new_view(const td_tensor *base, int n_dims, const int64_t *sizes,
                              const int64_t *strides, int64_t offset);

/* td_tensor_detach is the same view again, without history. */
td_tensor *td_tensor_detach(const td_tensor *tensor);

/* td_tensor_alias is td_tensor_detach with a version counter of its own, at 0: `.data`. */
td_tensor *td_tensor_alias(const td_tensor *tensor);

/* td_tensor_set_data gives a tensor the dtype, device, geometry and storage of another one; its
 * version stays. Nobody else may be using the tensor. */
void td_tensor_set_data(td_tensor *tensor, const td_tensor *data);

/* Inference mode of the calling thread; initially off. Tensors that are made in it are inference
 * tensors, and so are views of inference tensors. */
bool td_inference_mode(void);
void td_inference_mode_set(bool enabled);

td_tensor *td_tensor_ref(td_tensor *tensor); /* NULL passes through */
void td_tensor_unref(td_tensor *tensor);     /* NULL is fine */

int64_t td_tensor_n_elements(const td_tensor *tensor);
size_t td_tensor_n_bytes(const td_tensor *tensor); /* of its elements, not of its storage */
bool td_tensor_is_contiguous(const td_tensor *tensor);
/* td_tensor_is_dense: every element has a place of its own and there are no gaps between them: some
 * order of the dimensions is row-major. */
bool td_tensor_is_dense(const td_tensor *tensor);
bool td_tensor_same_sizes(const td_tensor *a, const td_tensor *b);

/* td_tensor_data points at the first element; NULL where there are none to point at (meta device).
 */
void *td_tensor_data(const td_tensor *tensor);
static inline bool
td_tensor_has_data(const td_tensor *tensor) {
  return tensor->storage->data != NULL;
}

/* td_tensor_numbers describes the elements for engine/base/numbers.h; borrows the tensor. None on
 * the meta device. */
td_numbers td_tensor_numbers(const td_tensor *tensor);

/* td_tensor_item returns a one-element tensor's value, td_tensor_get one by its row-major index; of
 * a complex number the real part; 0 on the meta device, where td_tensor_set does nothing.
 * td_tensor_get_complex and td_tensor_set_complex are about all of a complex number. */
double td_tensor_item(const td_tensor *tensor);
double td_tensor_get(const td_tensor *tensor, int64_t index);
td_complex128 td_tensor_get_complex(const td_tensor *tensor, int64_t index);
void td_tensor_set(td_tensor *tensor, int64_t index, double value);
void td_tensor_set_complex(td_tensor *tensor, int64_t index, td_complex128 value);

/* td_tensor_shape_text prints "[2, 3]". The caller frees. */
char *td_tensor_shape_text(const td_tensor *tensor);
char *td_sizes_text(int n_dims, const int64_t *sizes);
