/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Special functions that C's library lacks. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

double td_erfinv(double x);  /* the inverse of erf */
double td_digamma(double x); /* the derivative of lgamma */

/* td_op_trigamma is the derivative of digamma, elementwise. It has no derivative itself. */
td_status td_op_trigamma(td_tensor *self, td_tensor **out, td_error *error);
