/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Roundings are PyTorch's too: fused where its code is. */
#include "engine/torch/ops/random/random.h"

#include "engine/torch/graph/in_place.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/base/widen.h"
#include "engine/torch/ops/pointwise/cephes.h"
#include "engine/torch/ops/shape/inplace.h"
#include "engine/torch/ops/shape/shape.h"

#include <math.h>

/* Sixteen uniform numbers become normal ones: element i and i + 8 are a pair. Floats as PyTorch's
 * vector code computes them. */
static void
normal_16_float(float *data, float mean, float std) {
  for (int i = 0; i < 8; i++) {
    float radius = sqrtf(-2 * td_cephes_log(1 - data[i])), sine, cosine;
    td_cephes_sincos((float)(2 * M_PI) * data[i + 8], &sine, &cosine);
    data[i] = fmaf(radius * cosine, std, mean);
    data[i + 8] = fmaf(radius * sine, std, mean);
  }
}

static void
normal_16_double(double *data, double mean, double std) {
  for (int i = 0; i < 8; i++) {
    double radius = sqrt(-2 * log(1 - data[i])), angle = 2 * M_PI * data[i + 8];
    data[i] = fma(radius * cos(angle), std, mean);
    data[i + 8] = fma(radius * sin(angle), std, mean);
  }
}

/* The last sixteen are drawn anew where they are not a whole block. */
#define DEFINE_NORMAL_FILL(T)                                                                      \
  static void fill_normal_##T(td_generator *generator, T *data, int64_t n, T mean, T std) {        \
    for (int64_t i = 0; i < n; i++)                                                                \
      data[i] = td_draw_uniform_##T##_locked(generator);                                           \
    for (int64_t i = 0; i + 16 <= n; i += 16)                                                      \
      normal_16_##T(data + i, mean, std);                                                          \
    if (n % 16 == 0) return;                                                                       \
    T *last = data + n - 16;                                                                       \
    for (int i = 0; i < 16; i++)                                                                   \
      last[i] = td_draw_uniform_##T##_locked(generator);                                           \
    normal_16_##T(last, mean, std);                                                                \
  }
DEFINE_NORMAL_FILL(float)
DEFINE_NORMAL_FILL(double)

static void
fill_uniform_float(td_generator *generator, float *x, int64_t n, float low, float high) {
  float span = high - low;
  for (int64_t i = 0; i < n; i++)
    x[i] = fmaf(td_draw_uniform_float_locked(generator), span, low);
}

/* A fill writes a contiguous tensor, by two numbers. */
typedef void (*fill)(td_generator *generator, td_tensor *contiguous, double a, double b);

#define UNIFORM td_draw_uniform_double_locked(generator)
#define NORMAL td_draw_normal_locked(generator)
#define TD_RANDOM(name, node_name, kernel, expression, ...)                                        \
  static void draw_##name(td_generator *generator, td_tensor *contiguous, double a, double b) {    \
    int64_t n = td_tensor_n_elements(contiguous);                                                  \
    for (int64_t i = 0; i < n; i++)                                                                \
      td_tensor_set(contiguous, i, (expression));                                                  \
  }
#include "engine/torch/ops/random/random.def"
#undef TD_RANDOM

static void
fill_uniform(td_generator *generator, td_tensor *contiguous, double from, double to) {
  int64_t n = td_tensor_n_elements(contiguous);
  if (contiguous->dtype == TD_FLOAT32)
    fill_uniform_float(generator, td_tensor_data(contiguous), n, (float)from, (float)to);
  else if (contiguous->dtype == TD_FLOAT64)
    for (int64_t i = 0; i < n; i++)
      ((double *)td_tensor_data(contiguous))[i] = fma(UNIFORM, to - from, from);
  else
    draw_uniform(generator, contiguous, from, to);
}

static void
fill_normal(td_generator *generator, td_tensor *contiguous, double mean, double std) {
  int64_t n = td_tensor_n_elements(contiguous);
  if (n >= 16 && contiguous->dtype == TD_FLOAT32)
    fill_normal_float(generator, td_tensor_data(contiguous), n, (float)mean, (float)std);
  else if (n >= 16 && contiguous->dtype == TD_FLOAT64)
    fill_normal_double(generator, td_tensor_data(contiguous), n, mean, std);
  else
    draw_normal(generator, contiguous, mean, std);
}

typedef struct random_row {
  td_op_class klass;
  const char *name;
  fill fill;
} random_row;

static td_status
overwritten_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                    td_error *error) {
  return td_tensor_new_like(grad, out, error);
}

static void
run_fill(fill fill, td_generator *generator, td_tensor *contiguous, double a, double b) {
  if (!TD_LAUNCH("random", 1, contiguous)) return;
  generator = td_generator_lock(generator);
  fill(generator, contiguous, a, b);
  td_generator_unlock(generator);
}

static td_status
overwrite(const random_row *row, td_tensor *self, td_tensor *drawn, td_error *error) {
  td_write write;
  TD_TRY(td_write_begin(&write, &row->klass, sizeof(td_op_node), row->name, &self, 1, error));
  TD_TRY(td_write_check(&write, td_check_overlap(self, error)));
  td_kernel_copy(self, drawn);
  return td_write_end(&write, error);
}

/* Draws into a contiguous tensor, then copies. */
static td_status
refill(const random_row *row, td_generator *generator, td_tensor *self, double a, double b,
       td_error *error) {
  TD_LOCAL(drawn);
  if (row->fill == fill_uniform || row->fill == fill_normal)
    TD_TRY(td_op_want_floating(self, row->name, error));
  TD_TRY(td_op_check_dtype(row->name, self->dtype, error));
  td_dtype dtype = td_dtype_compute(self->dtype);
  TD_TRY(td_tensor_new_empty(dtype, TD_CPU, self->n_dims, self->sizes, &drawn, error));
  run_fill(row->fill, generator, drawn, a, b);
  return overwrite(row, self, drawn, error);
}

#define TD_RANDOM(name_, node_name, kernel, expression, allowed, ...)                              \
  static const random_row name_##_row = {TD_OP_CLASS(node_name, overwritten_formula),              \
                                         .name = #name_ "_", .fill = kernel};                      \
  td_status td_op_##name_##_into(td_generator *generator, td_tensor *self, double a, double b,     \
                                 td_error *error) {                                                \
    if (!(allowed)) return td_error_set(error, TD_INVALID, __VA_ARGS__);                           \
    return refill(&name_##_row, generator, self, a, b, error);                                     \
  }
#include "engine/torch/ops/random/random.def"
#undef TD_RANDOM

static td_status
new_filled(td_generator *generator, td_dtype dtype, td_device device, int n_dims,
           const int64_t *sizes, fill fill, td_tensor **out, td_error *error) {
  TD_LOCAL(result);
  TD_LOCAL(parts);
  td_dtype wide = td_dtype_compute(dtype);
  TD_TRY(td_tensor_new_empty(wide, device, n_dims, sizes, &result, error));
  if (td_dtype_is_complex(dtype)) { /* the variance is that of both parts together */
    TD_TRY(td_op_view_as_real(result, &parts, error));
    run_fill(fill, generator, parts, 0, fill == fill_normal ? 1 / sqrt(2) : 1);
    *out = TD_TAKE(result);
    return TD_OK;
  }
  TD_TRY(td_op_want_floating(
      result, fill == fill_normal ? "normal_kernel_cpu" : "check_uniform_bounds", error));
  run_fill(fill, generator, result, 0, 1);
  TD_TRY(td_op_rounded(&result, dtype, error));
  *out = TD_TAKE(result);
  return TD_OK;
}

td_status
td_op_rand(td_generator *generator, td_dtype dtype, td_device device, int n_dims,
           const int64_t *sizes, td_tensor **out, td_error *error) {
  return new_filled(generator, dtype, device, n_dims, sizes, fill_uniform, out, error);
}

td_status
td_op_randn(td_generator *generator, td_dtype dtype, td_device device, int n_dims,
            const int64_t *sizes, td_tensor **out, td_error *error) {
  return new_filled(generator, dtype, device, n_dims, sizes, fill_normal, out, error);
}

static int64_t
draw_between_locked(td_generator *generator, int64_t from, uint64_t span) {
  bool wide = span >= (uint64_t)1 << (td_policy(long_draws) ? 28 : 32);
  uint64_t word = wide ? td_draw64_locked(generator) : td_draw32_locked(generator);
  return (int64_t)(word % span + (uint64_t)from);
}

/* The largest integer up to which the dtype holds each one. */
static uint64_t
largest_of(td_dtype dtype) {
  static const int digits[TD_N_DTYPES] = {
      [TD_FLOAT32] = 24, [TD_FLOAT64] = 53, [TD_FLOAT16] = 11, [TD_BFLOAT16] = 8};
  int bits = digits[dtype] ? digits[dtype] : (int)td_dtype_size(dtype) * 8 - (dtype != TD_UINT8);
  if (dtype == TD_BOOL) return 1;
  return ((uint64_t)1 << bits) - (td_dtype_is_floating(dtype) ? 0 : 1);
}

static int64_t
draw_any_locked(td_generator *generator, td_dtype dtype) {
  bool wide = td_dtype_size(dtype) == 8;
  uint64_t word = wide ? td_draw64_locked(generator) : td_draw32_locked(generator);
  return (int64_t)(word % (largest_of(dtype) + 1));
}

/* What a dtype of integers holds. */
static td_status
check_bounds(td_dtype dtype, int64_t from, int64_t to, td_error *error) {
  if (td_dtype_is_floating(dtype)) return TD_OK;
  int64_t least = dtype == TD_INT64   ? INT64_MIN
                  : dtype == TD_INT32 ? INT32_MIN
                  : dtype == TD_INT16 ? INT16_MIN
                  : dtype == TD_INT8  ? INT8_MIN
                                      : 0;
  int64_t most = dtype == TD_UINT8 ? UINT8_MAX : dtype == TD_BOOL ? 1 : ~least;
  const char *name = td_dtype_cpp_name(dtype);
  if (from < least || from > most)
    return td_error_set(error, TD_INVALID, "from is out of bounds for %s", name);
  if (to - 1 < least || to - 1 > most)
    return td_error_set(error, TD_INVALID, "to - 1 is out of bounds for %s", name);
  return TD_OK;
}

/* Integers as int64, contiguous. */
static td_status
draw_integers(td_generator *generator, td_dtype dtype, bool bounded, int64_t from, int64_t to,
              int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  if (bounded && from >= to)
    return td_error_set(error, TD_INVALID,
                        "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                        (long long)from, (long long)to);
  if (td_dtype_is_complex(dtype))
    return td_error_set(error, TD_UNSUPPORTED, "\"random_\" not implemented for '%s'",
                        td_dtype_scalar_name(dtype));
  if (bounded) TD_TRY(check_bounds(dtype, from, to, error));
  TD_TRY(td_tensor_new_empty(TD_INT64, TD_CPU, n_dims, sizes, out, error));
  int64_t n = td_tensor_n_elements(*out), *x = td_tensor_data(*out);
  generator = td_generator_lock(generator);
  for (int64_t i = 0; i < n; i++)
    x[i] = bounded ? draw_between_locked(generator, from, (uint64_t)to - (uint64_t)from)
                   : draw_any_locked(generator, dtype);
  td_generator_unlock(generator);
  return TD_OK;
}

td_status
td_op_random_into(td_generator *generator, td_tensor *self, bool bounded, int64_t from, int64_t to,
                  td_error *error) {
  static const random_row row = {TD_OP_CLASS("RandomBackward0", overwritten_formula), "random_"},
                          until = {TD_OP_CLASS("RandomBackward1", overwritten_formula), "random_"},
                          all = {TD_OP_CLASS("RandomBackward2", overwritten_formula), "random_"};
  TD_LOCAL(drawn);
  TD_TRY(draw_integers(generator, self->dtype, bounded, from, to, self->n_dims, self->sizes, &drawn,
                       error));
  return overwrite(!bounded ? &all : from == 0 ? &until : &row, self, drawn, error);
}

td_status
td_op_randint(td_generator *generator, int64_t from, int64_t to, td_dtype dtype, td_device device,
              int n_dims, const int64_t *sizes, td_tensor **out, td_error *error) {
  TD_LOCAL(drawn);
  TD_LOCAL(cast);
  TD_TRY(draw_integers(generator, dtype, true, from, to, n_dims, sizes, &drawn, error));
  TD_TRY(td_kernel_cast(drawn, dtype, &cast, error));
  return td_kernel_to_device(cast, device, out, error);
}

/* Fisher and Yates's shuffle, from the front. */
td_status
td_op_randperm(td_generator *generator, int64_t n, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new_empty(TD_INT64, TD_CPU, 1, &n, out, error));
  int64_t *numbers = td_tensor_data(*out);
  for (int64_t i = 0; i < n; i++)
    numbers[i] = i;
  generator = td_generator_lock(generator);
  for (int64_t i = 0; i < n - 1; i++) {
    int64_t other = i + td_draw32_locked(generator) % (n - i), number = numbers[i];
    numbers[i] = numbers[other];
    numbers[other] = number;
  }
  td_generator_unlock(generator);
  return TD_OK;
}

static void
fill_noise(td_generator *generator, td_tensor *noise, double p, double unused) {
  int64_t n = td_tensor_n_elements(noise);
  TD_DISPATCH_FLOATING(noise->dtype, T *x = td_tensor_data(noise);
                       for (int64_t i = 0; i < n; i++) x[i] = UNIFORM < p ? 1 / (T)p : 0;)
}

td_status
td_op_dropout_noise(td_tensor *noise, double p, td_error *error) {
  TD_TRY(td_op_want_floating(noise, "bernoulli_", error));
  run_fill(fill_noise, NULL, noise, p, 0);
  return TD_OK;
}
