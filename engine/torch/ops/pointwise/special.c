/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/special.h"

#include "engine/torch/ops/base/op.h"

#include <math.h>

/* Winitzki's approximation, made exact by Newton's steps. */
double
td_erfinv(double x) {
  if (fabs(x) > 1) return NAN;
  if (fabs(x) == 1) return copysign(INFINITY, x);
  double a = 0.147, l = log1p(-x * x), b = 2 / (M_PI * a) + l / 2;
  double y = copysign(sqrt(sqrt(b * b - l / a) - b), x);
  for (int i = 0; i < 3; i++) {
    double miss = fabs(x) > 0.5 ? (1 - fabs(x)) - erfc(fabs(y)) : erf(fabs(y)) - fabs(x);
    y -= copysign(miss / (M_2_SQRTPI * exp(-y * y)), x * miss);
  }
  return y;
}

/* The recurrence to where the asymptotic series is exact. */
double
td_digamma(double x) {
  if (x == 0) return copysign(INFINITY, -x);
  if (x < 0 && x == floor(x)) return NAN;
  if (x < 0) return td_digamma(1 - x) - M_PI / tan(M_PI * (x - floor(x)));
  double sum = 0;
  for (; x < 10; x++)
    sum -= 1 / x;
  double z = 1 / (x * x);
  return sum + log(x) - 0.5 / x -
         z * (1.0 / 12 -
              z * (1.0 / 120 -
                   z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691 / 32760)))));
}

static double
trigamma(double x) {
  if (x < 0.5) {
    double sine = sin(M_PI * x);
    return M_PI * M_PI / (sine * sine) - trigamma(1 - x);
  }
  double sum = 0;
  for (; x < 10; x++)
    sum += 1 / (x * x);
  double z = 1 / (x * x);
  return sum + 1 / x + z / 2 +
         z / x * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * 5 / 66))));
}

td_status
td_op_trigamma(td_tensor *self, td_tensor **out, td_error *error) {
  TD_TRY(td_op_want_floating(self, "polygamma", error));
  TD_TRY(td_tensor_new(self->dtype, self->device, self->n_dims, self->sizes, out, error));
  int64_t n = TD_LAUNCH("polygamma", 1, *out, self) ? td_tensor_n_elements(self) : 0;
  for (int64_t i = 0; i < n; i++)
    td_tensor_set(*out, i, trigamma(td_tensor_get(self, i)));
  td_op_end_once(*out, TD_INPUTS(self));
  return TD_OK;
}
