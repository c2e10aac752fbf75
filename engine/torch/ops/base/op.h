/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the operations of this folder share: temporaries, dtypes and sizes of mixed operands, and
 * the node that nearly all of them use. Private to engine/torch/ops, but engine/torch/binding uses
 * the temporaries and what tells of dtypes and numbers. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/torch/graph/function.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/kernels.h"
#include "engine/torch/tensor/launch.h"
#include "engine/torch/tensor/layout.h"
#include "engine/torch/tensor/sparse.h"
#include "engine/torch/tensor/walk.h"

#include <assert.h>
#include <string.h>

/* Kernels exist for bool as well, with the same x * y and x < 0. */
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"

/* TD_TRY returns from the calling function with the first failure. */
#define TD_TRY(call)                                                                               \
  do {                                                                                             \
    td_status try_status_ = (call);                                                                \
    if (try_status_) return try_status_;                                                           \
  } while (0)

/* TD_LOCAL declares a temporary, NULL at first, whose reference is dropped at the end of its block.
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

/* td_op_drop drops n references, such as the results of a formula that failed. NULL may be among
 * them. */
static inline void
td_op_drop(td_tensor **tensors, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    td_tensor_unref(td_op_take(&tensors[i]));
}

#define TD_INPUTS(...)                                                                             \
  (td_tensor *[]){__VA_ARGS__}, sizeof((td_tensor *[]){__VA_ARGS__}) / sizeof(td_tensor *)

/* A node of an operation with one result: classes add their parameters behind it. */
#define TD_OP_MAX_SAVED 3
typedef struct td_op_node {
  td_node node;
  td_saved_variable saved[TD_OP_MAX_SAVED];
} td_op_node;

/* The formula computes the gradient of input `which` from the (defined) gradient of the result.
 * td_op_apply calls it once for each input whose gradient is wanted. */
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
 * td_op_save keeps a forward input, td_op_save_result a result (after td_op_end). td_op_saved
 * returns a new reference to what was saved. It takes the node's mutex, because another pass may
 * release the saved tensor at the same time. */
void *td_op_begin(const td_op_class *klass, size_t size, td_tensor *const *inputs,
                  uint32_t n_inputs);
void td_op_end(td_op_node *op, td_tensor *result);
void td_op_save(td_op_node *op, int index, td_tensor *tensor);
void td_op_save_result(td_op_node *op, int index, td_tensor *result);
td_status td_op_saved(td_op_node *op, int index, td_tensor **out, td_error *error);

/* td_op_has_edge tells whether anybody can want the gradient of input `which`. Not all that
 * requires grad can: a view that was made with grad mode off has neither history nor
 * AccumulateGrad. */
static inline bool
td_op_has_edge(const td_op_node *op, uint32_t which) {
  return op->node.next_edges[which].node != NULL;
}

/* td_op_end_with makes the node of a result whose formula needs all operands and a number. */
typedef struct td_number_node {
  td_op_node op;
  double number;
} td_number_node;
void td_op_end_with(const td_op_class *klass, uint32_t n, td_tensor *const *operands, double number,
                    td_tensor *result);

/* td_op_announce_saved emits saved_tensor for everything that op saved. The events name `node`: op
 * itself, or the CopySlices that op is part of. */
void td_op_announce_saved(const td_op_node *op, const td_node *node);

/* td_op_end_once is for the result of a backward kernel without a derivative of its own. It gives
 * the result a node (DelayedError) with edges to `inputs`. The node fails when a backward pass
 * reaches it. Without history td_op_end_once does nothing. */
void td_op_end_once(td_tensor *result, td_tensor *const *inputs, uint32_t n_inputs);

/* td_op_end_unknown is the same for a kernel whose derivative PyTorch does not have either, by its
 * name there (a literal). The node is NotImplemented. */
void td_op_end_unknown(td_tensor *result, td_tensor *const *inputs, uint32_t n_inputs,
                       const char *name);

/* What a gradient must become to be an input's: its sizes, dtype and device. */
td_input_metadata td_op_metadata(const td_tensor *tensor);

/* td_op_promote returns the dtype of a result of two operands. A function with fractional results
 * computes in td_op_float_dtype. */
td_dtype td_op_promote(const td_tensor *a, const td_tensor *b);
td_dtype td_op_wider(td_dtype a, td_dtype b); /* of two tensors with dimensions */
td_dtype td_op_float_dtype(td_dtype dtype);

/* td_op_cast_factor casts a second factor, or a divisor, to the dtype of the result. A
 * 0-dimensional one beside halves keeps the digits of a float32. */
td_status td_op_cast_factor(td_tensor *tensor, td_dtype dtype, td_tensor **out, td_error *error);

/* td_op_can_cast tells whether results of one dtype may be written into a tensor of another. They
 * may not if their category is higher: complex, floating, integer, bool. */
bool td_op_can_cast(td_dtype from, td_dtype to);

/* td_op_common_device finds the device of the tensors (NULLs allowed), and TD_DEVICE if they are on
 * several. 0-dimensional tensors of the CPU do not count. */
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

/* These checks fail with TD_DTYPE or TD_UNSUPPORTED and PyTorch's texts. td_op_same_dtype wants one
 * dtype. td_op_want_floating wants a floating dtype for the kernel `what`, td_op_want_real one that
 * is not complex. td_op_want_averageable wants a dtype that has means. td_op_no_such_dtype is the
 * status of an operation that no integer has: PyTorch 2.15 raises NotImplementedError. */
td_status td_op_same_dtype(const td_tensor *a, const td_tensor *b, td_error *error);
td_status td_op_want_floating(const td_tensor *tensor, const char *what, td_error *error);
td_status td_op_want_real(const td_tensor *tensor, const char *what, td_error *error);
td_status td_op_no_such_dtype(void);
td_status td_op_want_averageable(const td_tensor *tensor, td_error *error);

/* td_op_check_dtype fails if refused.def says so, td_op_check_sub for booleans. */
td_status td_op_check_dtype(const char *operation, td_dtype dtype, td_error *error);
td_status td_op_check_sub(td_dtype a, td_dtype b, td_error *error);

/* td_op_check_number fails if a number is too great for a dtype of one or two bytes. The text names
 * the dtype with a suffix, "_t" or "". */
td_status td_op_check_number(td_dtype dtype, double value, const char *suffix, td_error *error);

/* td_op_check_real fails if a number with an imaginary part is for a real dtype. */
td_status td_op_check_real(td_dtype dtype, td_complex128 value, td_error *error);

/* td_op_want_dense: TD_UNSUPPORTED for a sparse tensor, for the operation `what`. */
td_status td_op_want_dense(const td_tensor *tensor, const char *what, td_error *error);

/* td_op_scalar_type names a dtype as error texts do: "Float". */
const char *td_op_scalar_type(td_dtype dtype);
