/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Inputs of an operation, a scalar that depends on every element of its result, and the gradients
 * of such a scalar. Elements are reproducible and distinct. Main thread; every tensor that a
 * function here returns is a new reference. */
#pragma once

#include "tests/ops/op_table.h"

typedef struct op_fixture {
  const op_case *op;
  int n;
  td_tensor *x[MAX_INPUTS]; /* (owned) float64 leaves */
} op_fixture;

/* op_fixture_init makes the inputs of a case; `strided` reverses their dimensions in memory and
 * leaves a gap after every element. */
void op_fixture_init(op_fixture *f, const op_case *op, bool strided);
void op_fixture_fini(op_fixture *f);

/* parse_shape reads "2 3" into sizes and returns how many there are; new_tensor makes a float64
 * tensor of zeros of such a shape. */
int parse_shape(const char *text, int64_t *sizes);
td_tensor *new_tensor(const char *shape);
void unref_all(int n, td_tensor **tensors);

/* weigh returns sum(x * fixed numbers), which depends on each element differently; loss_of weighs
 * what the operation returns for the inputs. */
td_tensor *weigh(td_tensor *x, uint32_t seed);
td_tensor *loss_of(const op_fixture *f);

/* gradients_of runs a pass from a scalar to the inputs; a gradient is a new reference or NULL. */
td_status gradients_of(td_tensor *scalar, const op_fixture *f, bool create_graph,
                       td_tensor **gradients, td_error *error);
