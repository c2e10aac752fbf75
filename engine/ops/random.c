/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The generator is MT19937 (Matsumoto and Nishimura 1998). What is drawn from it for each kind of
 * number, and in which order, is as in PyTorch 1.13: one 32-bit word for a float, two for a double.
 * Roundings too: fused where its code is. */
#include "engine/ops/random.h"

#include "engine/ops/cephes.h"
#include "engine/ops/op.h"
#include "engine/ops/pointwise.h"

#include <math.h>
#include <pthread.h>

#define N_WORDS TD_GENERATOR_WORDS
#define SHIFT_WORDS 397
#define DEFAULT_SEED 5489

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static td_generator_state generator; /* (guarded by mutex) */

static void
seed_locked(uint64_t seed) {
  generator.words[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < N_WORDS; i++) {
    uint32_t before = generator.words[i - 1];
    generator.words[i] = 1812433253u * (before ^ before >> 30) + i;
  }
  generator.next = N_WORDS;
  generator.seeded = true;
  generator.has_normal = false;
}

static void
refill_locked(void) {
  uint32_t *words = generator.words;
  for (int i = 0; i < N_WORDS; i++) {
    uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % N_WORDS] & 0x7fffffffu);
    words[i] = words[(i + SHIFT_WORDS) % N_WORDS] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfu : 0);
  }
  generator.next = 0;
}

static uint32_t
draw32_locked(void) {
  if (generator.next == N_WORDS) refill_locked();
  uint32_t word = generator.words[generator.next++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

static float
uniform_float_locked(void) {
  return (float)(draw32_locked() & 0xffffffu) * 0x1p-24f;
}

static double
uniform_double_locked(void) {
  uint64_t high = draw32_locked(), low = draw32_locked();
  return (double)((high << 32 | low) & 0x1fffffffffffffu) * 0x1p-53;
}

/* Box and Muller's pairs, the second one kept for the next call. */
static double
normal_locked(void) {
  if (generator.has_normal) {
    generator.has_normal = false;
    return generator.normal;
  }
  double u1 = uniform_double_locked(), u2 = uniform_double_locked();
  double radius = sqrt(-2 * log1p(-u2)), angle = 2 * M_PI * u1;
  generator.normal = radius * sin(angle);
  generator.has_normal = true;
  return radius * cos(angle);
}

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
    data[i] = radius * cos(angle) * std + mean;
    data[i + 8] = radius * sin(angle) * std + mean;
  }
}

/* The last sixteen are drawn anew where they are not a whole block. */
#define DEFINE_NORMAL_FILL(T)                                                                      \
  static void normal_##T##_locked(T *data, int64_t n, T mean, T std) {                             \
    for (int64_t i = 0; i < n; i++)                                                                \
      data[i] = uniform_##T##_locked();                                                            \
    for (int64_t i = 0; i + 16 <= n; i += 16)                                                      \
      normal_16_##T(data + i, mean, std);                                                          \
    if (n % 16 == 0) return;                                                                       \
    T *last = data + n - 16;                                                                       \
    for (int i = 0; i < 16; i++)                                                                   \
      last[i] = uniform_##T##_locked();                                                            \
    normal_16_##T(last, mean, std);                                                                \
  }
DEFINE_NORMAL_FILL(float)
DEFINE_NORMAL_FILL(double)

static void
lock_generator(void) {
  pthread_mutex_lock(&mutex);
  if (!generator.seeded) seed_locked(DEFAULT_SEED);
}

void
td_generator_get(td_generator_state *state) {
  pthread_mutex_lock(&mutex);
  if (!generator.seeded) seed_locked(DEFAULT_SEED);
  *state = generator;
  pthread_mutex_unlock(&mutex);
}

void
td_generator_set(const td_generator_state *state) {
  pthread_mutex_lock(&mutex);
  generator = *state;
  pthread_mutex_unlock(&mutex);
}

void
td_manual_seed(uint64_t seed) {
  pthread_mutex_lock(&mutex);
  seed_locked(seed);
  pthread_mutex_unlock(&mutex);
}

static void
fill_uniform(td_tensor *contiguous, double from, double to) {
  int64_t n = td_tensor_n_elements(contiguous);
  if (!TD_LAUNCH("uniform", 1, contiguous)) return;
  lock_generator();
  if (contiguous->dtype == TD_FLOAT32) {
    float *x = td_tensor_data(contiguous), low = (float)from, span = (float)to - low;
    for (int64_t i = 0; i < n; i++)
      x[i] = fmaf(uniform_float_locked(), span, low);
  } else {
    double *x = td_tensor_data(contiguous);
    for (int64_t i = 0; i < n; i++)
      x[i] = fma(uniform_double_locked(), to - from, from);
  }
  pthread_mutex_unlock(&mutex);
}

static void
fill_normal(td_tensor *contiguous, double mean, double std) {
  int64_t n = td_tensor_n_elements(contiguous);
  if (!TD_LAUNCH("normal", 1, contiguous)) return;
  lock_generator();
  if (n < 16)
    for (int64_t i = 0; i < n; i++)
      td_tensor_set(contiguous, i, normal_locked() * std + mean);
  else if (contiguous->dtype == TD_FLOAT32)
    normal_float_locked(td_tensor_data(contiguous), n, (float)mean, (float)std);
  else
    normal_double_locked(td_tensor_data(contiguous), n, mean, std);
  pthread_mutex_unlock(&mutex);
}

/* Draws into a contiguous tensor, then copies. */
static td_status
refill(td_tensor *self, void (*fill)(td_tensor *, double, double), double a, double b,
       td_error *error) {
  TD_LOCAL(drawn);
  TD_TRY(td_op_want_floating(self, "random numbers", error));
  TD_TRY(td_tensor_new_empty(self->dtype, TD_CPU, self->n_dims, self->sizes, &drawn, error));
  fill(drawn, a, b);
  return td_op_overwrite(self, drawn, fill == fill_uniform, error);
}

td_status
td_op_uniform_into(td_tensor *self, double from, double to, td_error *error) {
  return refill(self, fill_uniform, from, to, error);
}

td_status
td_op_normal_into(td_tensor *self, double mean, double std, td_error *error) {
  return refill(self, fill_normal, mean, std, error);
}

static td_status
new_filled(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes,
           void (*fill)(td_tensor *, double, double), double a, double b, td_tensor **out,
           td_error *error) {
  TD_LOCAL(result);
  TD_TRY(td_tensor_new_empty(dtype, device, n_dims, sizes, &result, error));
  TD_TRY(td_op_want_floating(result, "random numbers", error));
  fill(result, a, b);
  *out = TD_TAKE(result);
  return TD_OK;
}

td_status
td_op_rand(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes, td_tensor **out,
           td_error *error) {
  return new_filled(dtype, device, n_dims, sizes, fill_uniform, 0, 1, out, error);
}

td_status
td_op_randn(td_dtype dtype, td_device device, int n_dims, const int64_t *sizes, td_tensor **out,
            td_error *error) {
  return new_filled(dtype, device, n_dims, sizes, fill_normal, 0, 1, out, error);
}

/* Fisher and Yates's shuffle, from the front. */
td_status
td_op_randperm(int64_t n, td_tensor **out, td_error *error) {
  TD_TRY(td_tensor_new_empty(TD_INT64, TD_CPU, 1, &n, out, error));
  int64_t *numbers = td_tensor_data(*out);
  for (int64_t i = 0; i < n; i++)
    numbers[i] = i;
  lock_generator();
  for (int64_t i = 0; i < n - 1; i++) {
    int64_t other = i + draw32_locked() % (n - i), number = numbers[i];
    numbers[i] = numbers[other];
    numbers[other] = number;
  }
  pthread_mutex_unlock(&mutex);
  return TD_OK;
}

td_status
td_op_bernoulli_into(td_tensor *noise, double p, td_error *error) {
  TD_TRY(td_op_want_floating(noise, "bernoulli_", error));
  if (!TD_LAUNCH("bernoulli", 1, noise)) return TD_OK;
  int64_t n = td_tensor_n_elements(noise);
  lock_generator();
  TD_DISPATCH_FLOATING(noise->dtype, T *x = td_tensor_data(noise);
                       for (int64_t i = 0; i < n; i++) x[i] =
                           uniform_double_locked() < p ? 1 / (T)p : 0;)
  pthread_mutex_unlock(&mutex);
  return TD_OK;
}
