/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What products of matrices and vectors ask of their operands, with PyTorch's texts. `what` is the
 * product's name: "mm". Private to engine/torch/ops. */
#pragma once

#include "engine/torch/ops/base/op.h"

/* td_product_check wants so many dimensions, one dtype and one device, which it finds. TD_SHAPE,
 * TD_DTYPE, TD_DEVICE. td_product_refuse_dims is its error about dimensions. */
td_status td_product_check(const char *what, td_tensor *a, int a_dims, td_tensor *b, int b_dims,
                           td_device *device, td_error *error);
td_status td_product_refuse_dims(const char *what, int a_dims, int a_wanted, int b_dims,
                                 td_error *error);
