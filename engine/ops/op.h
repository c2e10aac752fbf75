/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the operations of this folder share: temporaries, dtypes and sizes of mixed operands, and
 * the node that nearly all of them use. Private to engine/ops. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/graph/function.h"
#include "engine/tensor/factories.h"
#include "engine/tensor/kernels.h"
#include "engine/tensor/launch.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/walk.h"

#include <assert.h>
#include <string.h>

/* bool is among the types that kernels are made for, where x * y and x < 0 are meant all the same.
 */
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"

/* TD_TRY returns from the calling function with the first failure. */
#define TD_TRY(call)                                                                               \
  do {                                                                                             \
    td_status try_status_ = (call);                                                                \
    if (try_status_) return try_status_;                                                           \
  } while (0)

/* TD_LOCAL declares a temporary, NULL at first, whose reference is dropped at the end of its block;
 * TD_TAKE moves the reference out of it. */
#define TD_LOCAL(name) __attribute__((cleanup(td_op_unref_local))) td_tensor *name = NULL
#define TD_TAKE(name) td_op_take(&(name))
static inline void
td_op_unref_local(td_tensor **local) {
  td_tensor_unref(*local);
}
static inline td_tensor *
td_op_take(td_tensor **local) {
  td_tensor *tensor = *local;
  *local = NULL;
  return tensor;
}

#define TD_INPUTS(...)                                                                             \
  (td_tensor *[]){__VA_ARGS__}, sizeof((td_tensor *[]){__VA_ARGS__}) / sizeof(td_tensor *)

/* A node of an operation with one result: classes add their parameters behind it. */
#define TD_OP_MAX_SAVED 3
typedef struct td_op_node {
  td_node node;
  td_saved_variable saved[TD_OP_MAX_SAVED];
} td_op_node;

/* The formula computes the gradient of input `which` from the (defined) gradient of the result. It
 * is called once for each input whose gradient is wanted. */
typedef td_status (*td_op_formula)(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                                   td_error *error);
typedef struct td_calc td_calc;
typedef struct td_op_class {
  td_node_class base;
  td_op_formula formula;
  /* If formula is td_calc_formula (calc.h): the formula as an expression. */
  td_tensor *(*calc)(td_calc *c, td_op_node *op, td_tensor *grad, uint32_t which);
  bool takes_sparse; /* the formula knows sparse gradients; others get a dense one */
  bool last_first;   /* which gradient is computed first shows in the sequence numbers of
                      * create_graph: PyTorch goes by the operands' names, other before self */
} td_op_class;

td_status td_op_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs,
                      td_error *error);
void td_op_release(td_node *node);
#define TD_OP_CLASS(name_, formula_)                                                               \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = td_op_release},                   \
        .formula = (formula_)                                                                      \
  }

#define TD_OP_CLASS_LAST_FIRST(name_, formula_)                                                    \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = td_op_release},                   \
        .formula = (formula_), .last_first = true                                                  \
  }

#define TD_OP_CLASS_SPARSE(name_, formula_)                                                        \
  {                                                                                                \
    {.name = (name_), .apply = td_op_apply, .release_variables = td_op_release},                   \
        .formula = (formula_), .takes_sparse = true                                                \
  }

/* td_op_begin is td_function_begin for a td_op_class; td_op_end is td_function_end for its result.
 * td_op_save keeps a forward input, td_op_save_result a result (after td_op_end). td_op_saved is a
 * new reference to what was saved. Under the node's mutex: another pass may release it at the same
 * time. */
void *td_op_begin(const td_op_class *klass, size_t size, td_tensor *const *inputs,
                  uint32_t n_inputs);
void td_op_end(td_op_node *op, td_tensor *result);
void td_op_save(td_op_node *op, int index, td_tensor *tensor);
void td_op_save_result(td_op_node *op, int index, td_tensor *result);
td_status td_op_saved(td_op_node *op, int index, td_tensor **out, td_error *error);

/* td_op_announce_saved emits saved_tensor for all that op saved, as kept by an announced node:
 * itself, or the CopySlices that it is part of. */
void td_op_announce_saved(const td_op_node *op, const td_node *node);

/* td_op_end_once gives a result of a backward kernel, computed from `inputs`, a node that fails
 * when a backward pass reaches it (DelayedError): its own derivative is not implemented. Without
 * history it does nothing. */
void td_op_end_once(td_tensor *result, td_tensor *const *inputs, uint32_t n_inputs);

/* What a gradient must become to be an input's: its sizes, dtype and device. */
td_input_metadata td_op_metadata(const td_tensor *tensor);

/* td_op_promote returns the dtype of a result of two operands, td_op_float_dtype the one that a
 * function with fractional results computes in. */
td_dtype td_op_promote(const td_tensor *a, const td_tensor *b);
td_dtype td_op_wider(td_dtype a, td_dtype b); /* of two tensors with dimensions */
td_dtype td_op_float_dtype(td_dtype dtype);

/* td_op_can_cast tells whether results of one dtype may be written into a tensor of another: not
 * where they are of a higher category (complex, floating, integer, bool). */
bool td_op_can_cast(td_dtype from, td_dtype to);

/* td_op_common_device: TD_DEVICE unless all tensors (NULLs allowed) but 0-dimensional ones of the
 * CPU are on one. */
td_status td_op_common_device(uint32_t n, td_tensor *const *tensors, td_device *device,
                              td_error *error);

/* td_op_broadcast computes the sizes that a and b broadcast to, TD_SHAPE with PyTorch's text. */
typedef struct td_sizes {
  int n_dims;
  int64_t at[TD_MAX_DIMS];
} td_sizes;
td_status td_op_broadcast(const td_sizes *a, const td_sizes *b, td_sizes *out, td_error *error);
td_sizes td_op_sizes(const td_tensor *tensor);

/* td_op_wrap_dim turns a dimension in [-n_dims, n_dims) into [0, n_dims); TD_OUT_OF_RANGE. */
td_status td_op_wrap_dim(int64_t dim, int n_dims, int *out, td_error *error);

/* TD_DTYPE or TD_UNSUPPORTED with PyTorch's texts. td_op_same_dtype: unless both have one dtype.
 * td_op_want_floating: unless it is a floating one, for the kernel `what`, td_op_want_real: unless
 * it is not complex; td_op_want_averageable the same for a mean. */
td_status td_op_same_dtype(const td_tensor *a, const td_tensor *b, td_error *error);
td_status td_op_want_floating(const td_tensor *tensor, const char *what, td_error *error);
td_status td_op_want_real(const td_tensor *tensor, const char *what, td_error *error);
td_status td_op_want_averageable(const td_tensor *tensor, td_error *error);

/* td_op_want_dense: TD_UNSUPPORTED for a sparse tensor, for the operation `what`. */
td_status td_op_want_dense(const td_tensor *tensor, const char *what, td_error *error);

/* td_op_scalar_type names a dtype as error texts do: "Float". */
const char *td_op_scalar_type(td_dtype dtype);
