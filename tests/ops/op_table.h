/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of operations that the tests of engine/torch/ops go through: how each is called, on
 * inputs of which shapes, and which node its result hangs on. Main thread. */
#pragma once

#include "engine/torch/ops/nn/loss.h"

#define MAX_INPUTS 3

typedef td_status (*op_call)(td_tensor *const *x, td_tensor **out, td_error *error);

typedef struct op_case {
  const char *name; /* of the test */
  const char *node; /* of the node that the result hangs on */
  op_call call;
  const char *shapes[MAX_INPUTS]; /* "2 3"; "" has no dimensions; NULL: no more inputs */
  double low, high;               /* of the inputs' elements */
  bool once;                      /* its backward has no derivative of its own */
  bool contiguous;                /* it refuses strided inputs */
} op_case;

/* CALL(add, expression) defines call_add, an op_call; the expression finds x, out and error. DIMS
 * and PAIR make the arguments that say dimensions. */
#define CALL(name, expression)                                                                     \
  static td_status call_##name(td_tensor *const *x, td_tensor **out, td_error *error) {            \
    return expression;                                                                             \
  }
#define DIMS(...)                                                                                  \
  (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) {                         \
    __VA_ARGS__                                                                                    \
  }
#define PAIR(a, b)                                                                                 \
  (int64_t[2]) {                                                                                   \
    a, b                                                                                           \
  }

/* op_cases returns the whole table; op_case_find the row of this name, which must be there. */
const op_case *op_cases(size_t *n);
const op_case *op_case_find(const char *name);

/* with_indices calls an operation that takes a vector of indices beside its tensor; index_rows is
 * td_op_index as such a call, without a reduction. */
typedef td_status (*indexed_call)(td_tensor *x, td_tensor *indices, td_reduction reduction,
                                  td_tensor **out, td_error *error);
td_status with_indices(int n, const int64_t *numbers, td_tensor *x, td_reduction reduction,
                       indexed_call call, td_tensor **out, td_error *error);
td_status index_rows(td_tensor *x, td_tensor *indices, td_reduction unused, td_tensor **out,
                     td_error *error);
