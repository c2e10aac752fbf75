/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of complex numbers that C's library lacks, and operations between complex numbers and
 * their parts. Any thread. */
#pragma once

#include "engine/torch/tensor/tensor.h"

#include <complex.h>
#undef I /* tables have these names */
#undef complex

td_complex128 td_complex_exp2(td_complex128 z);
td_complex128 td_complex_expm1(td_complex128 z);
td_complex128 td_complex_log1p(td_complex128 z);
td_complex128 td_complex_log2(td_complex128 z);
td_complex128 td_complex_log10(td_complex128 z);
td_complex128 td_complex_sgn(td_complex128 z); /* z / |z|, 0 of 0 */

static inline double
td_real_sgn(double x) {
  return (x > 0) - (x < 0);
}
#define td_sgn(x)                                                                                  \
  _Generic(x, td_complex64                                                                         \
           : td_complex_sgn, td_complex128                                                         \
           : td_complex_sgn, default                                                               \
           : td_real_sgn)(x)

/* The function for the type of x, as in TD_OF_REAL(exp)(x). The first macro knows C's functions of
 * real numbers. The second adds C's of complex numbers, and the third those above. */
#define TD_OF_REAL(function) _Generic(x, float : function##f, default : function)
#define TD_OF_COMPLEX(function)                                                                    \
  _Generic(x, float                                                                                \
           : function##f, td_complex64                                                             \
           : c##function##f, td_complex128                                                         \
           : c##function, default                                                                  \
           : function)
#define TD_OF_OURS(function)                                                                       \
  _Generic(x, float                                                                                \
           : function##f, td_complex64                                                             \
           : td_complex_##function, td_complex128                                                  \
           : td_complex_##function, default                                                        \
           : function)

/* td_complex_abs is the real part of td_op_abs: the sizes of complex numbers, without history. */
td_status td_complex_abs(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_real and td_op_imag are views of the parts (SelectBackward0 of ViewAsRealBackward0); a real
 * tensor is its real part itself. td_op_angle is the phase (AngleBackward0): of real numbers 0 or
 * pi. */
td_status td_op_real(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_imag(td_tensor *self, td_tensor **out, td_error *error);
td_status td_op_angle(td_tensor *self, td_tensor **out, td_error *error);

/* td_op_complex makes numbers of real and imaginary parts (ComplexBackward0), td_op_polar of sizes
 * and phases (PolarBackward0). Both operands broadcast, and have one dtype: float32 or float64. */
td_status td_op_complex(td_tensor *real, td_tensor *imag, td_tensor **out, td_error *error);
td_status td_op_polar(td_tensor *abs, td_tensor *angle, td_tensor **out, td_error *error);
