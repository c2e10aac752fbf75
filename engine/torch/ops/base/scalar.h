/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Python's numbers as operands. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_scalar makes the 0-dimensional operand for a Python number beside `like`. It has like's
 * compute type if that is of the number's category or a higher one. Else it is int64 or float32. */
td_tensor *td_op_scalar(const td_tensor *like, double value, bool is_integer);

/* td_op_complex_scalar is the same of a complex number. It is double if like's numbers are. */
td_tensor *td_op_complex_scalar(const td_tensor *like, td_complex128 value);
