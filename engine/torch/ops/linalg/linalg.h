/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Products of vectors and matrices. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_mm: [n, k] x [k, m] (MmBackward0). td_op_mv: [n, k] x [k] (MvBackward0). td_op_dot: [k] .
 * [k] (DotBackward0). td_op_bmm: [b, n, k] x [b, k, m] (BmmBackward0). */
td_status td_op_mm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error);
td_status td_op_mv(td_tensor *self, td_tensor *vec, td_tensor **out, td_error *error);
td_status td_op_dot(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_bmm(td_tensor *self, td_tensor *mat2, td_tensor **out, td_error *error);

/* td_op_addmm is bias + mat1 mat2 (AddmmBackward0, edges bias, mat1, mat2); bias broadcasts. */
td_status td_op_addmm(td_tensor *bias, td_tensor *mat1, td_tensor *mat2, td_tensor **out,
                      td_error *error);

/* td_op_addmm_scaled is beta bias + alpha mat1 mat2; td_op_baddbmm the same of batches
 * (BaddbmmBackward0). td_op_outer is a composition of reshape and mul. */
td_status td_op_addmm_scaled(td_tensor *bias, td_tensor *mat1, td_tensor *mat2, double beta,
                             double alpha, td_tensor **out, td_error *error);
td_status td_op_baddbmm(td_tensor *bias, td_tensor *batch1, td_tensor *batch2, double beta,
                        double alpha, td_tensor **out, td_error *error);
td_status td_op_outer(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);

/* td_op_matmul and td_op_linear (input weight^T + bias, bias may be NULL) are compositions, with
 * the nodes that PyTorch makes in the same order. */
td_status td_op_matmul(td_tensor *self, td_tensor *other, td_tensor **out, td_error *error);
td_status td_op_linear(td_tensor *input, td_tensor *weight, td_tensor *bias, td_tensor **out,
                       td_error *error);
