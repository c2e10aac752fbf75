/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Operations between complex numbers and real ones: sizes, phases, and numbers made of parts. */
#include "engine/torch/ops/base/calc.h"
#include "engine/torch/ops/pointwise/complex.h"
#include "engine/torch/ops/shape/view.h"

#include <math.h>

#define INTO_REAL(name, function)                                                                  \
  static void name##_kernel(td_tensor *out, const td_tensor *in) {                                 \
    td_walk walk;                                                                                  \
    td_walk_init_named(&walk, #name, 1, out->n_dims, out->sizes, 2,                                \
                       (const td_tensor *[]){out, in});                                            \
    TD_DISPATCH_OVER(in->dtype, TD_DISPATCH_COMPLEX(while (td_walk_row(&walk)) {                   \
                       __typeof__(__real__(T) 0) *to = walk.at[0];                                 \
                       const T *from = walk.at[1];                                                 \
                       for (int64_t i = 0; i < walk.n; i++)                                        \
                         to[i * walk.step[0]] = (__typeof__(*to))function(from[i * walk.step[1]]); \
                     }))                                                                           \
  }
INTO_REAL(abs, cabs)
INTO_REAL(angle, carg)

static td_status
into_real(void (*kernel)(td_tensor *out, const td_tensor *in), td_tensor *self, td_tensor **out,
          td_error *error) {
  td_dtype dtype = td_dtype_real(self->dtype);
  TD_TRY(td_tensor_laid_out_like(self, dtype, self->device, out, error));
  kernel(*out, self);
  return TD_OK;
}

td_status
td_complex_abs(td_tensor *self, td_tensor **out, td_error *error) {
  return into_real(abs_kernel, self, out, error);
}

static td_tensor *
times_i(td_calc *c, td_tensor *a) {
  return c->status ? NULL : MUL(a, td_calc_keep(c, td_op_complex_scalar(a, _Complex_I)));
}

/* r = arg z:  dz = i dr z / |z|^2, 0 where z is. The phase of real numbers is flat. */
CALC(angle) {
  td_tensor *self = SAVED(0);
  if (c->status || !td_dtype_is_complex(self->dtype)) return td_calc_zeros(c, grad);
  td_tensor *slope = times_i(c, DIV(MUL(grad, self), SQUARE(ABS(self)))), *zero = NUMBER(self, 0);
  return WHERE(td_calc_eq(c, self, zero), zero, slope);
}
static const td_op_class angle_class = TD_CALC_CLASS("AngleBackward0", angle_calc);

/* Of a tensor without history. NaN stays. */
static td_status
real_angle(td_tensor *self, td_tensor **out, td_error *error) {
  td_calc calc = {.error = error}, *c = &calc;
  td_tensor *bare = td_calc_to(c, td_calc_bare(c, self), td_op_float_dtype(self->dtype));
  td_tensor *zero = NUMBER(bare, 0), *below = c->status ? NULL : td_calc_lt(c, bare, zero);
  td_tensor *phases = WHERE(below, NUMBER(bare, M_PI), zero);
  phases = WHERE(td_calc_isnan(c, bare), bare, td_calc_to(c, phases, bare ? bare->dtype : 0));
  return td_op_own(td_calc_end(c, phases, out), out);
}

td_status
td_op_angle(td_tensor *self, td_tensor **out, td_error *error) {
  TD_TRY(td_op_want_dense(self, "angle", error));
  if (td_dtype_is_complex(self->dtype))
    TD_TRY(into_real(angle_kernel, self, out, error));
  else
    TD_TRY(real_angle(self, out, error));
  td_op_end_with(&angle_class, 1, &self, 0, *out);
  return TD_OK;
}

/* z = x + i y:  dx = Re dz,  dy = Im dz */
CALC(complex) {
  return which == 0 ? td_calc_real(c, grad) : td_calc_imag(c, grad);
}
static const td_op_class complex_class = TD_CALC_CLASS("ComplexBackward0", complex_calc);

/* z = r e^(i a):  dr = Re(conj(dz) sgn z),  da = Re(conj(dz) i z) */
CALC(polar) {
  td_tensor *z = SAVED(0);
  return td_calc_real(c, MUL(CONJ(grad), which == 0 ? SGN(z) : times_i(c, z)));
}
static const td_op_class polar_class = TD_CALC_CLASS("PolarBackward0", polar_calc);

static void
complex_kernel(td_walk *walk, td_dtype dtype, bool polar) {
  TD_DISPATCH_FLOATING(
      dtype, while (td_walk_row(walk)) {
        T *to = walk->at[0];
        const T *px = walk->at[1], *py = walk->at[2];
        for (int64_t i = 0; i < walk->n; i++, to += 2 * walk->step[0]) {
          const T x = px[i * walk->step[1]], y = py[i * walk->step[2]];
          to[0] = polar ? (T)(x * (T)cos((double)y)) : x;
          to[1] = polar ? (T)(x * (T)sin((double)y)) : y;
        }
      })
}

static bool
is_part(td_dtype dtype) {
  return td_dtype_is_floating(dtype) && dtype != TD_BFLOAT16;
}

static td_status
check_parts(const td_tensor *a, const td_tensor *b, td_error *error) {
  if (!is_part(a->dtype) || !is_part(b->dtype))
    return td_error_set(error, TD_INVALID,
                        "Expected both inputs to be Half, Float or Double tensors but got %s and "
                        "%s",
                        td_op_scalar_type(a->dtype), td_op_scalar_type(b->dtype));
  if (a->dtype != b->dtype)
    return td_error_set(error, TD_INVALID,
                        "Expected object of scalar type %s but got scalar type %s for second "
                        "argument",
                        td_op_scalar_type(a->dtype), td_op_scalar_type(b->dtype));
  if (td_dtype_is_half(a->dtype))
    return td_error_set(error, TD_UNSUPPORTED, "complex numbers of halves are not supported");
  return TD_OK;
}

static td_status
of_parts(td_tensor *a, td_tensor *b, bool polar, td_tensor **out, td_error *error) {
  td_device device;
  td_sizes a_sizes = td_op_sizes(a), b_sizes = td_op_sizes(b), sizes;
  TD_TRY(check_parts(a, b, error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){a, b}, &device, error));
  TD_TRY(td_op_broadcast(&a_sizes, &b_sizes, &sizes, error));
  td_dtype dtype = a->dtype == TD_FLOAT32 ? TD_COMPLEX64 : TD_COMPLEX128;
  TD_TRY(td_tensor_laid_out(dtype, device, sizes.n_dims, sizes.at, 2, (const td_tensor *[]){a, b},
                            out, error));
  td_walk walk;
  td_walk_init(&walk, sizes.n_dims, sizes.at, 3, (const td_tensor *[]){*out, a, b});
  complex_kernel(&walk, a->dtype, polar);
  return TD_OK;
}

td_status
td_op_complex(td_tensor *real, td_tensor *imag, td_tensor **out, td_error *error) {
  TD_TRY(of_parts(real, imag, false, out, error));
  td_op_end_with(&complex_class, 2, (td_tensor *[]){real, imag}, 0, *out);
  return TD_OK;
}

td_status
td_op_polar(td_tensor *abs, td_tensor *angle, td_tensor **out, td_error *error) {
  TD_TRY(of_parts(abs, angle, true, out, error));
  td_op_node *op = td_op_begin(&polar_class, sizeof *op, TD_INPUTS(abs, angle));
  if (!op) return TD_OK;
  td_op_end(op, *out);
  td_op_save_result(op, 0, *out);
  return TD_OK;
}
