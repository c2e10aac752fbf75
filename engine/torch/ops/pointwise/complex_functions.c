/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/complex.h"

#include <math.h>

td_complex128
td_complex_exp2(td_complex128 z) {
  return cexp(z * M_LN2);
}

/* e^x (cos y + i sin y) - 1, where 1 - cos y is 2 sin^2(y / 2) */
td_complex128
td_complex_expm1(td_complex128 z) {
  double x = creal(z), y = cimag(z), half = sin(y / 2), size = exp(x);
  return CMPLX(expm1(x) - 2 * half * half * size, size * sin(y));
}

/* |1 + z|^2 is 1 + x (2 + x) + y^2 */
td_complex128
td_complex_log1p(td_complex128 z) {
  double x = creal(z), y = cimag(z);
  bool near = fabs(x) < 0.5 && fabs(y) < 0.5;
  return near ? CMPLX(log1p(x * (2 + x) + y * y) / 2, atan2(y, 1 + x)) : clog(1 + z);
}

td_complex128
td_complex_log2(td_complex128 z) {
  return clog(z) / M_LN2;
}

td_complex128
td_complex_log10(td_complex128 z) {
  return clog(z) / M_LN10;
}

td_complex128
td_complex_sgn(td_complex128 z) {
  return z == 0 ? 0 : z / cabs(z);
}
