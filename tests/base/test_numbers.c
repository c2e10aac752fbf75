/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers, held to a reference that visits every element by its indices and knows nothing of
 * merged dimensions, blocks and lanes. tests/probe/test_numerics.py compares with PyTorch besides.
 */
#include "engine/base/numbers.h"

#include <complex.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#define MEMORY 65536
#define CASES 4000

static const int element_bytes[TD_N_NUMBER_TYPES] = {
#define X(name, n_bytes, text) n_bytes,
    TD_NUMBER_TYPES(X)
#undef X
};

static double
of_float_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

/* By the definition of the format, with the C library's power of two. */
static double
of_half_bits(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double complex
element(td_number_type type, const void *at) {
  switch (type) {
  case TD_NUMBER_FLOAT16:
    return of_half_bits(*(const uint16_t *)at);
  case TD_NUMBER_BFLOAT16:
    return of_float_bits((uint32_t) * (const uint16_t *)at << 16);
  case TD_NUMBER_FLOAT32:
    return (double)*(const float *)at;
  case TD_NUMBER_FLOAT64:
    return *(const double *)at;
  case TD_NUMBER_COMPLEX32:
    return CMPLX(of_half_bits(((const uint16_t *)at)[0]), of_half_bits(((const uint16_t *)at)[1]));
  case TD_NUMBER_COMPLEX64:
    return CMPLX((double)((const float *)at)[0], (double)((const float *)at)[1]);
  case TD_NUMBER_COMPLEX128:
    return CMPLX(((const double *)at)[0], ((const double *)at)[1]);
  case TD_NUMBER_BOOL:
    return *(const uint8_t *)at != 0;
  case TD_NUMBER_UINT8:
    return *(const uint8_t *)at;
  case TD_NUMBER_INT8:
    return *(const int8_t *)at;
  case TD_NUMBER_INT16:
    return *(const int16_t *)at;
  case TD_NUMBER_INT32:
    return *(const int32_t *)at;
  default:
    return (double)*(const int64_t *)at;
  }
}

typedef struct reference {
  td_number_stats stats;
  long double total, squares;
  uint64_t n_finite;
} reference;

static void
reference_add(reference *self, double complex value, bool is_magnitude) {
  bool nan = isnan(creal(value)) || isnan(cimag(value));
  bool inf = isinf(creal(value)) || isinf(cimag(value));
  self->stats.n_elements++;
  self->stats.n_nan += nan;
  self->stats.n_inf += inf;
  if (nan || inf) return;
  double number = is_magnitude ? cabs(value) : creal(value);
  if (isinf(number)) return; /* both parts are finite, but the magnitude overflows */
  self->n_finite++;
  self->total += number;
  self->squares += (long double)number * number;
  self->stats.min = isnan(self->stats.min) ? number : fmin(self->stats.min, number);
  self->stats.max = isnan(self->stats.max) ? number : fmax(self->stats.max, number);
  self->stats.absmax =
      isnan(self->stats.absmax) ? fabs(number) : fmax(self->stats.absmax, fabs(number));
}

static bool
is_complex(td_number_type type) {
  return type >= TD_NUMBER_COMPLEX32 && type <= TD_NUMBER_COMPLEX128;
}

static void
refer(const td_numbers *numbers, td_number_stats *stats) {
  reference self = {.stats = {.min = NAN, .max = NAN, .absmax = NAN, .mean = NAN, .l2 = NAN}};
  int64_t index[TD_NUMBERS_MAX_DIMS] = {0};
  for (bool more = true; more;) {
    const char *at = numbers->data;
    more = false;
    for (int dim = 0; dim < numbers->n_dims; dim++) {
      if (numbers->sizes[dim] == 0) goto done;
      at += index[dim] * numbers->strides[dim] * element_bytes[numbers->type];
    }
    double complex value = element(numbers->type, at);
    reference_add(&self, value, is_complex(numbers->type));
    for (int dim = numbers->n_dims - 1; dim >= 0 && !more; dim--) {
      more = ++index[dim] < numbers->sizes[dim];
      if (!more) index[dim] = 0;
    }
  }
done:
  *stats = self.stats;
  if (!self.n_finite) return;
  stats->mean = (double)(self.total / self.n_finite);
  stats->l2 = (double)sqrtl(self.squares);
}

static void
assert_near(double got, double expected, double slack) {
  if ((isnan(expected) && isnan(got)) || got == expected) return;
  g_assert_true(isfinite(got));
  g_assert_cmpfloat(fabs(got - expected), <=, slack);
}

static void
assert_as_reference(const td_numbers *numbers) {
  td_number_stats expected, counted, got;
  refer(numbers, &expected);
  td_numbers_measure(numbers, &got);
  g_assert_cmpuint(got.n_elements, ==, expected.n_elements);
  g_assert_cmpuint(got.n_nan, ==, expected.n_nan);
  g_assert_cmpuint(got.n_inf, ==, expected.n_inf);
  double n = (double)MAX(got.n_elements, 1);
  assert_near(got.min, expected.min, fabs(expected.min) * 1e-15);
  assert_near(got.max, expected.max, fabs(expected.max) * 1e-15);
  assert_near(got.absmax, expected.absmax, fabs(expected.absmax) * 1e-15);
  assert_near(got.mean, expected.mean, expected.absmax * n * 1e-16 + 1e-320);
  assert_near(got.l2, expected.l2, expected.l2 * n * 1e-16 + 1e-15 * expected.l2);
  td_numbers_count(numbers, &counted);
  g_assert_cmpuint(counted.n_elements, ==, expected.n_elements);
  g_assert_cmpuint(counted.n_nan, ==, expected.n_nan);
  g_assert_cmpuint(counted.n_inf, ==, expected.n_inf);
  g_assert_true(isnan(counted.min) && isnan(counted.l2));
  unsigned found = td_numbers_look(numbers);
  g_assert_cmpint((found & TD_NUMBERS_NAN) != 0, ==, expected.n_nan > 0);
  g_assert_cmpint((found & TD_NUMBERS_INF) != 0, ==, expected.n_inf > 0);
  bool is_zero = numbers->type <= TD_NUMBER_COMPLEX128 && expected.n_elements > 0 &&
                 expected.n_nan + expected.n_inf == 0 && expected.absmax == 0;
  g_assert_cmpint(td_numbers_are_zero(numbers), ==, is_zero);
}

/* Zeros of both signs, then one other number at each place; the least one too. Only every second
 * element is looked at. */
static void
test_zeros(void) {
  float values[4096] = {0};
  td_numbers numbers = {.data = values,
                        .n_dims = 2,
                        .sizes = (int64_t[]){2, 1024},
                        .strides = (int64_t[]){2048, 2},
                        .type = TD_NUMBER_FLOAT32};
  for (int i = 0; i < 4096; i += 3)
    values[i] = -0.0f;
  for (int i = 0; i < 4096; i += 37) {
    float before = values[i];
    values[i] = i % 5 ? 0x1p-149f : -INFINITY;
    g_assert_cmpint(td_numbers_are_zero(&numbers), ==, i % 2);
    assert_as_reference(&numbers);
    values[i] = before;
    g_assert_true(td_numbers_are_zero(&numbers));
  }
  numbers.sizes = (int64_t[]){0, 1024};
  g_assert_false(td_numbers_are_zero(&numbers));
}

static uint64_t
random_bits(void) {
  return (uint64_t)(uint32_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
}

/* Random bits are finite but for a few exponents, which few of all are: some kinds of memory have
 * none that is not, some have many. */
static void
fill(char *memory, td_number_type type) {
  for (size_t i = 0; i < MEMORY; i += 8)
    memcpy(memory + i, &(uint64_t){random_bits()}, 8);
  if (type >= TD_NUMBER_BOOL || g_test_rand_bit()) return;
  int keep = g_test_rand_bit() ? 0xbb : 0x3b; /* no exponent of ones in any of the formats */
  for (size_t i = 0; i < MEMORY; i++)
    memory[i] &= (char)keep;
  for (int special = g_test_rand_int_range(-2, 3); special > 0; special--)
    memset(memory + 8 * g_test_rand_int_range(0, MEMORY / 8), g_test_rand_bit() ? 0xff : 0x7f, 8);
}

/* Dimensions in any order over one block of memory, some repeated, some cut, some of size 1. */
static void
random_geometry(td_numbers *numbers, int64_t *sizes, int64_t *strides, int64_t room) {
  int n = g_test_rand_int_range(0, 13), order[12];
  int64_t stride = 1, used = 1;
  numbers->n_dims = n;
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int other = g_test_rand_int_range(0, i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (int i = 0; i < n; i++) {
    int dim = order[i], kind = g_test_rand_int_range(0, 8);
    int64_t most = room / used > 1 ? room / used : 1;
    sizes[dim] = kind == 0 ? 1 : g_test_rand_int_range(1, n > 5 ? 4 : 60);
    if (kind == 1 && used < 4096) {
      strides[dim] = 0;
      sizes[dim] = MIN(sizes[dim], 3);
      continue;
    }
    sizes[dim] = MIN(sizes[dim], most);
    strides[dim] = stride;
    int64_t apart = kind == 2 ? 2 : 1; /* every second row only */
    if (used * sizes[dim] * apart > room) apart = 1;
    used *= sizes[dim] * apart;
    stride *= sizes[dim] * apart;
  }
  if (n && g_test_rand_int_range(0, 40) == 0) sizes[g_test_rand_int_range(0, n)] = 0;
}

static void
test_as_reference(void) {
  char *memory = g_malloc(MEMORY);
  int64_t sizes[12], strides[12];
  for (int i = 0; i < CASES; i++) {
    td_number_type type = (td_number_type)(i % TD_N_NUMBER_TYPES);
    td_numbers numbers = {.data = memory, .type = type, .sizes = sizes, .strides = strides};
    fill(memory, type);
    random_geometry(&numbers, sizes, strides, MEMORY / element_bytes[type]);
    assert_as_reference(&numbers);
  }
  g_free(memory);
}

/* Every number of 16 bits, one at a time. */
static void
test_every_small_float(void) {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    uint16_t number = (uint16_t)bits;
    assert_as_reference(&(td_numbers){.data = &number, .type = TD_NUMBER_FLOAT16});
    assert_as_reference(&(td_numbers){.data = &number, .type = TD_NUMBER_BFLOAT16});
  }
}

/* One bad element anywhere in a long row, whatever its neighbours in the vector are. */
static void
test_one_among_many(void) {
  enum { N = 2100 };
  static float numbers[N];
  int64_t size = N, stride = 1;
  td_numbers array = {numbers, TD_NUMBER_FLOAT32, 1, &size, &stride};
  for (int i = 0; i < N; i++) {
    numbers[i] = i % 2 ? NAN : i % 3 ? INFINITY : -INFINITY;
    g_assert_cmpuint(td_numbers_look(&array), ==,
                     i % 2   ? TD_NUMBERS_NAN
                     : i % 3 ? TD_NUMBERS_PLUS_INF
                             : TD_NUMBERS_MINUS_INF);
    numbers[i] = i % 3 ? 3.4e38f : -1e-45f;
    g_assert_cmpuint(td_numbers_look(&array), ==, 0);
  }
}

static void
test_scaled(void) {
  double great[] = {1e300, -1e300, 1e300}, small[] = {3e-300, 4e-300, 0},
         most[] = {1.7e308, 1.7e308};
  int64_t three = 3, two = 2, stride = 1;
  td_number_stats stats;
  td_numbers_measure(&(td_numbers){great, TD_NUMBER_FLOAT64, 1, &three, &stride}, &stats);
  assert_near(stats.l2 / 1e300, sqrt(3), 1e-15);
  assert_near(stats.mean / 1e300, 1. / 3, 1e-15);
  td_numbers_measure(&(td_numbers){small, TD_NUMBER_FLOAT64, 1, &three, &stride}, &stats);
  assert_near(stats.l2 / 5e-300, 1, 1e-15);
  td_numbers_measure(&(td_numbers){most, TD_NUMBER_FLOAT64, 1, &two, &stride}, &stats);
  assert_near(stats.mean / 1.7e308, 1, 1e-15);
}

/* An expanded tensor has more elements than any memory: each is there once. */
static void
test_expanded(void) {
  float numbers[] = {3, INFINITY};
  int64_t sizes[] = {1 << 30, 2, 1 << 20}, strides[] = {0, 1, 0};
  td_number_stats stats;
  td_numbers_measure(&(td_numbers){numbers, TD_NUMBER_FLOAT32, 3, sizes, strides}, &stats);
  g_assert_cmpuint(stats.n_elements, ==, (uint64_t)1 << 51);
  g_assert_cmpuint(stats.n_inf, ==, (uint64_t)1 << 50);
  g_assert_cmpfloat(stats.mean, ==, 3);
  g_assert_cmpfloat(stats.l2, ==, 3 * ldexp(1, 25));
}

static void
test_unreadable(void) {
  float number = NAN;
  int64_t sizes[TD_NUMBERS_MAX_DIMS + 1] = {0}, strides[TD_NUMBERS_MAX_DIMS + 1] = {0};
  const td_numbers arrays[] = {{.data = &number, .type = TD_N_NUMBER_TYPES},
                               {.data = NULL, .type = TD_NUMBER_FLOAT32},
                               {.data = &number,
                                .type = TD_NUMBER_FLOAT32,
                                .n_dims = TD_NUMBERS_MAX_DIMS + 1,
                                .sizes = sizes,
                                .strides = strides}};
  for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++) {
    td_number_stats stats;
    g_assert_false(td_numbers_are_readable(&arrays[i]));
    td_numbers_measure(&arrays[i], &stats);
    g_assert_cmpuint(stats.n_elements, ==, 0);
    g_assert_cmpuint(td_numbers_look(&arrays[i]), ==, 0);
  }
  td_numbers empty = {.type = TD_NUMBER_FLOAT32, .n_dims = 1, .sizes = sizes, .strides = strides};
  g_assert_true(td_numbers_are_readable(&empty));
  assert_as_reference(&empty);
  g_assert_cmpint(td_number_type_find("torch.bfloat16"), ==, TD_NUMBER_BFLOAT16);
  g_assert_cmpint(td_number_type_find("torch.float8_e5m2"), ==, TD_N_NUMBER_TYPES);
}

/* Rows of a matrix and of its transpose; zeros have two signs, and NaN equals nothing. */
static void
test_survey(void) {
  const double matrix[] = {1, 1, 0, -0.0, NAN, NAN, 1, 2};
  const int64_t sizes[] = {2, 4}, strides[] = {4, 1}, turned[] = {4, 2}, back[] = {1, 4};
  uint64_t n_zero, n_twins;
  td_numbers_survey(&(td_numbers){matrix, TD_NUMBER_FLOAT64, 2, sizes, strides}, &n_zero, &n_twins);
  g_assert_cmpuint(n_zero, ==, 2);
  g_assert_cmpuint(n_twins, ==, 2);
  td_numbers_survey(&(td_numbers){matrix, TD_NUMBER_FLOAT64, 2, turned, back}, &n_zero, &n_twins);
  g_assert_cmpuint(n_zero, ==, 2);
  g_assert_cmpuint(n_twins, ==, 0);
  td_numbers_survey(&(td_numbers){matrix, TD_NUMBER_COMPLEX128, 0, NULL, NULL}, &n_zero, &n_twins);
  g_assert_cmpuint(n_zero + n_twins, ==, 0);
  td_numbers_survey(&(td_numbers){matrix, TD_NUMBER_FLOAT64, 0, NULL, NULL}, &n_zero, &n_twins);
  g_assert_cmpuint(n_zero + n_twins, ==, 0);
}

static void
test_overflow(void) {
  g_assert_false(td_numbers_overflow(65519.99, TD_NUMBER_FLOAT16));
  g_assert_true(td_numbers_overflow(65520, TD_NUMBER_FLOAT16));
  g_assert_false(td_numbers_overflow(3.4028235e38, TD_NUMBER_FLOAT32));
  g_assert_true(td_numbers_overflow(3.4028236e38, TD_NUMBER_FLOAT32));
  g_assert_false(td_numbers_overflow(3.39e38, TD_NUMBER_BFLOAT16));
  g_assert_true(td_numbers_overflow(3.397e38, TD_NUMBER_BFLOAT16));
  g_assert_false(td_numbers_overflow(INFINITY, TD_NUMBER_FLOAT64));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/numbers/as-reference", test_as_reference);
  g_test_add_func("/base/numbers/every-small-float", test_every_small_float);
  g_test_add_func("/base/numbers/one-among-many", test_one_among_many);
  g_test_add_func("/base/numbers/scaled", test_scaled);
  g_test_add_func("/base/numbers/expanded", test_expanded);
  g_test_add_func("/base/numbers/zeros", test_zeros);
  g_test_add_func("/base/numbers/unreadable", test_unreadable);
  g_test_add_func("/base/numbers/survey", test_survey);
  g_test_add_func("/base/numbers/overflow", test_overflow);
  return g_test_run();
}
