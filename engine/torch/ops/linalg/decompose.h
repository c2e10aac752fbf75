/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decompositions of matrices, or of batches of them, by LAPACK: the numbers alone, without history.
 * All compute in float64 or complex128, and round at the end. Tensors are [..., rows, columns] and
 * floating or complex, checked by the caller; operands of one call have the same leading dimensions
 * and the same dtype. `info` is LAPACK's answer for each matrix (int32): 0 if all went well. *out
 * is an (owned) array. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_lu factors with partial pivoting. It gives L and U in one matrix, and the rows that were
 * swapped, counted from 1 (int32). info is the first diagonal element of U that is 0. */
td_status td_op_lu(td_tensor *self, td_tensor ***out, uint32_t *n, td_error *error);

/* td_op_lu_solve solves A X = B for the factors of A. td_op_solve factors A itself, and tells its
 * info. */
td_status td_op_lu_solve(td_tensor *lu, td_tensor *pivots, td_tensor *b, td_tensor **x,
                         td_error *error);
td_status td_op_solve(td_tensor *a, td_tensor *b, td_tensor **x, td_tensor **info, td_error *error);

/* td_op_triangular_solve solves A X = B, where A is triangular; unit: its diagonal counts as 1. */
td_status td_op_triangular_solve(td_tensor *a, td_tensor *b, bool upper, bool unit, td_tensor **x,
                                 td_error *error);

/* td_op_cholesky: the lower factor of a symmetric matrix, whose lower triangle counts. *info is the
 * order of the first leading minor that is not positive. */
td_status td_op_cholesky(td_tensor *self, td_tensor **factor, td_tensor **info, td_error *error);

/* td_op_qr by Householder reflections; full: Q is square. */
td_status td_op_qr(td_tensor *self, bool full, td_tensor **q, td_tensor **r, td_error *error);

/* td_op_eigh: eigenvalues in ascending order (real), eigenvectors, info. The lower triangle counts.
 * td_op_eig: the same of any square matrix, both complex, in LAPACK's order. */
td_status td_op_eigh(td_tensor *self, td_tensor ***out, uint32_t *n, td_error *error);
td_status td_op_eig(td_tensor *self, td_tensor ***out, uint32_t *n, td_error *error);

/* td_op_svd: U [..., m, k], the singular values (real), which descend, V^H [..., k, n], and info; k
 * is the smaller of m and n. full: U and V^H are square. */
td_status td_op_svd(td_tensor *self, bool full, td_tensor ***out, uint32_t *n, td_error *error);
