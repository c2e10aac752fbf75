/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A write in place through a view, by the names of both, and a scalar that depends on what the
 * write left. Main thread; every tensor that a function here returns is a new reference. */
#pragma once

#include "engine/torch/tensor/tensor.h"

#define N 4 /* elements along each side of the tensor that is written into */

typedef td_status (*write_call)(td_tensor *view, td_tensor *other, td_error *error);
typedef td_status (*view_call)(td_tensor *base, td_tensor **out, td_error *error);

typedef struct inplace_fixture {
  write_call write;
  view_call view;
  td_tensor *x, *other; /* leaves */
} inplace_fixture;

/* inplace_write and inplace_view return the name of the i-th write and view, NULL after the last.
 */
const char *inplace_write(size_t i);
const char *inplace_view(size_t i);

void inplace_fixture_init(inplace_fixture *f, const char *write, const char *view);
void inplace_fixture_fini(inplace_fixture *f);

/* leaf makes a float64 leaf whose elements begin with `first` and rise; loss_of makes the scalar;
 * run_backward runs a pass from a scalar into .grad. */
td_tensor *leaf(int n_dims, const int64_t *sizes, double first);
td_tensor *loss_of(const inplace_fixture *f);
td_status run_backward(td_tensor *loss, bool keep_graph, td_error *error);
