/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/numbers.h"

#include "engine/base/number_rows.h"

#include <math.h>
#include <string.h>

#pragma GCC optimize("O3") /* loops over elements: vectorised also where the rest is not */

/* The layout of a number: a real number has one part, a complex one two. */
typedef struct number_format {
  uint8_t n_bytes; /* of an element */
  uint8_t n_parts;
  uint8_t part_bytes;
  bool floating;
  const char *text;
} number_format;

#define IS_COMPLEX(type)                                                                           \
  ((type) == TD_NUMBER_COMPLEX32 || (type) == TD_NUMBER_COMPLEX64 || (type) == TD_NUMBER_COMPLEX128)
static const number_format formats[TD_N_NUMBER_TYPES] = {
#define X(name, bytes, text)                                                                       \
  {bytes, IS_COMPLEX(TD_NUMBER_##name) ? 2 : 1,                                                    \
   IS_COMPLEX(TD_NUMBER_##name) ? (bytes) / 2 : bytes, TD_NUMBER_##name <= TD_NUMBER_COMPLEX128,   \
   text},
    TD_NUMBER_TYPES(X)
#undef X
};

/* The type of a complex number's parts; a real type is its own. */
static td_number_type
part_type(td_number_type type) {
  switch (type) {
  case TD_NUMBER_COMPLEX32:
    return TD_NUMBER_FLOAT16;
  case TD_NUMBER_COMPLEX64:
    return TD_NUMBER_FLOAT32;
  case TD_NUMBER_COMPLEX128:
    return TD_NUMBER_FLOAT64;
  default:
    return type;
  }
}

td_number_type
td_number_type_find(const char *text) {
  td_number_type type = 0;
  while (type < TD_N_NUMBER_TYPES && strcmp(formats[type].text, text) != 0)
    type++;
  return type;
}

/* An exponent of ones is a NaN or an infinity. Adding one to it overflows into the sign bit, which
 * was cleared. That needs no comparison of wide integers, which basic processors cannot vectorise.
 */
#define LOOK_CASES(name, bits_type, exponent)                                                      \
  static bool all_finite_##name(const void *at, int64_t n, int64_t step) {                         \
    const bits_type *bits = at, ones = exponent, one = ones & -ones;                               \
    bits_type bad = 0;                                                                             \
    if (step == 1)                                                                                 \
      for (int64_t i = 0; i < n; i++)                                                              \
        bad |= (bits_type)((bits[i] & ones) + one);                                                \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++)                                                              \
        bad |= (bits_type)((bits[i * step] & ones) + one);                                         \
    return !(bad >> (8 * sizeof(bits_type) - 1));                                                  \
  }                                                                                                \
  static unsigned look_at_##name(const void *at) {                                                 \
    const bits_type bits = *(const bits_type *)at, ones = exponent;                                \
    if ((bits & ones) != ones) return 0;                                                           \
    if (bits & (bits_type)((ones & -ones) - 1)) return TD_NUMBERS_NAN;                             \
    return bits >> (8 * sizeof(bits_type) - 1) ? TD_NUMBERS_MINUS_INF : TD_NUMBERS_PLUS_INF;       \
  }
LOOK_CASES(float16, uint16_t, 0x7c00)
LOOK_CASES(bfloat16, uint16_t, 0x7f80)
LOOK_CASES(float32, uint32_t, 0x7f800000u)
LOOK_CASES(float64, uint64_t, 0x7ff0000000000000u)

static bool
all_finite(td_number_type type, const void *at, int64_t n, int64_t step) {
  switch (type) {
  case TD_NUMBER_FLOAT16:
    return all_finite_float16(at, n, step);
  case TD_NUMBER_BFLOAT16:
    return all_finite_bfloat16(at, n, step);
  case TD_NUMBER_FLOAT32:
    return all_finite_float32(at, n, step);
  case TD_NUMBER_FLOAT64:
    return all_finite_float64(at, n, step);
  default:
    return true;
  }
}

static unsigned
look_at(td_number_type type, const void *at) {
  switch (type) {
  case TD_NUMBER_FLOAT16:
    return look_at_float16(at);
  case TD_NUMBER_BFLOAT16:
    return look_at_bfloat16(at);
  case TD_NUMBER_FLOAT32:
    return look_at_float32(at);
  case TD_NUMBER_FLOAT64:
    return look_at_float64(at);
  default:
    return 0;
  }
}

/* The exponent and fraction of a float16, read as those of a float32, are too small by a power of
 * two. This holds for subnormal numbers as well. */
static double
from_half(uint16_t bits) {
  uint32_t wide = (uint32_t)(bits & 0x7fff) << 13;
  float value;
  memcpy(&value, &wide, sizeof value);
  value = (bits & 0x7c00) == 0x7c00 ? NAN : value * 0x1p112f;
  return (double)(bits & 0x8000 ? -value : value);
}

static double
from_bfloat(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

#define READ_CASE(name, type, expression)                                                          \
  case TD_NUMBER_##name: {                                                                         \
    const type *x = at;                                                                            \
    for (int64_t i = 0; i < n; i++)                                                                \
      out[i] = expression(x[i * step]);                                                            \
    break;                                                                                         \
  }

static void
read_doubles(td_number_type type, const void *at, int64_t n, int64_t step, double *out) {
  switch (type) {
    READ_CASE(FLOAT16, uint16_t, from_half)
    READ_CASE(BFLOAT16, uint16_t, from_bfloat)
    READ_CASE(FLOAT32, float, (double))
    READ_CASE(FLOAT64, double, )
    READ_CASE(BOOL, uint8_t, (double)!!)
    READ_CASE(UINT8, uint8_t, (double))
    READ_CASE(INT8, int8_t, (double))
    READ_CASE(INT16, int16_t, (double))
    READ_CASE(INT32, int32_t, (double))
    READ_CASE(INT64, int64_t, (double))
  default:
    memset(out, 0, (size_t)n * sizeof *out);
  }
}

/* The functions read elements in blocks that stay in the nearest cache. */
#define BLOCK 1024

static int64_t
block_at(const td_number_rows *rows, int64_t from) {
  return rows->n - from < BLOCK ? rows->n - from : BLOCK;
}

bool
td_numbers_are_readable(const td_numbers *numbers) {
  if (numbers->type >= TD_N_NUMBER_TYPES || numbers->n_dims < 0 ||
      numbers->n_dims >= TD_NUMBERS_MAX_DIMS)
    return false;
  for (int dim = 0; dim < numbers->n_dims; dim++)
    if (numbers->sizes[dim] == 0) return true;
  return numbers->data != NULL;
}

/* The dimension with the least stride above `above`, where the array has more than one place. */
static int
next_stride(const td_numbers *numbers, int64_t above) {
  int found = -1;
  for (int dim = 0; dim < numbers->n_dims; dim++)
    if (numbers->sizes[dim] > 1 && numbers->strides[dim] > above &&
        (found < 0 || numbers->strides[dim] < numbers->strides[found]))
      found = dim;
  return found;
}

/* Elements lie apart if each stride is as long as all that the lesser ones reach. Two equal strides
 * overlap, and so does a negative one here. */
bool
td_numbers_span(const td_numbers *numbers, uint64_t *n_bytes) {
  int64_t reach = 1, n_moving = 0, n_met = 0;
  *n_bytes = 0;
  for (int dim = 0; dim < numbers->n_dims; dim++) {
    if (numbers->sizes[dim] == 0) return true;
    n_moving += numbers->sizes[dim] > 1 && numbers->strides[dim] != 0;
  }
  for (int dim = next_stride(numbers, 0); dim >= 0;
       dim = next_stride(numbers, numbers->strides[dim])) {
    int64_t stride = numbers->strides[dim], way;
    if (stride < reach || __builtin_mul_overflow(numbers->sizes[dim] - 1, stride, &way) ||
        __builtin_add_overflow(reach, way, &reach))
      return false;
    n_met++;
  }
  return n_met == n_moving &&
         !__builtin_mul_overflow((uint64_t)reach, formats[numbers->type].n_bytes, n_bytes);
}

static void
rows_of_elements(td_number_rows *rows, const td_numbers *numbers) {
  td_number_rows_init(rows, numbers, 1, formats[numbers->type].n_bytes);
}

static void
rows_of_parts(td_number_rows *rows, const td_numbers *numbers) {
  const number_format *format = &formats[numbers->type];
  td_number_rows_init(rows, numbers, format->n_parts, format->part_bytes);
}

static unsigned
look_at_block(td_number_type type, const char *at, int64_t n, int64_t step) {
  if (all_finite(type, at, n, step)) return 0;
  unsigned found = 0;
  for (int64_t i = 0; i < n; i++)
    found |= look_at(type, at + i * step * formats[type].n_bytes);
  return found;
}

unsigned
td_numbers_look(const td_numbers *numbers) {
  if (!td_numbers_are_readable(numbers) || !formats[numbers->type].floating) return 0;
  td_number_type type = part_type(numbers->type);
  unsigned found = 0;
  td_number_rows rows;
  rows_of_parts(&rows, numbers);
  while (td_number_rows_next(&rows))
    for (int64_t i = 0; i < rows.n; i += BLOCK) {
      found |= look_at_block(type, rows.at + i * rows.step * rows.n_bytes, block_at(&rows, i),
                             rows.step);
      if (found == (TD_NUMBERS_NAN | TD_NUMBERS_INF)) return found;
    }
  return found;
}

/* A zero has no bits but its sign. */
#define ZERO_CASES(name, bits_type)                                                                \
  static bool all_zero_##name(const void *at, int64_t n, int64_t step) {                           \
    const bits_type *bits = at;                                                                    \
    bits_type set = 0;                                                                             \
    if (step == 1)                                                                                 \
      for (int64_t i = 0; i < n; i++)                                                              \
        set |= bits[i];                                                                            \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++)                                                              \
        set |= bits[i * step];                                                                     \
    return !(bits_type)(set << 1);                                                                 \
  }
ZERO_CASES(two, uint16_t)
ZERO_CASES(four, uint32_t)
ZERO_CASES(eight, uint64_t)

static bool
all_zero(int n_bytes, const void *at, int64_t n, int64_t step) {
  if (n_bytes == 2) return all_zero_two(at, n, step);
  return n_bytes == 4 ? all_zero_four(at, n, step) : all_zero_eight(at, n, step);
}

bool
td_numbers_are_zero(const td_numbers *numbers) {
  if (!td_numbers_are_readable(numbers) || !formats[numbers->type].floating) return false;
  bool has_elements = false;
  td_number_rows rows;
  rows_of_parts(&rows, numbers);
  while (td_number_rows_next(&rows))
    for (int64_t i = 0; i < rows.n; i += BLOCK) {
      has_elements = true;
      const char *at = rows.at + i * rows.step * rows.n_bytes;
      if (!all_zero(rows.n_bytes, at, block_at(&rows, i), rows.step)) return false;
    }
  return has_elements;
}

static uint64_t
n_elements(const td_numbers *numbers) {
  uint64_t n = 1;
  for (int dim = 0; dim < numbers->n_dims; dim++)
    n *= (uint64_t)numbers->sizes[dim];
  return n;
}

/* Looks at one element; a complex one has two parts. */
static unsigned
look_at_element(td_number_type type, const char *at) {
  unsigned found = look_at(part_type(type), at);
  if (formats[type].n_parts == 2) found |= look_at(part_type(type), at + formats[type].part_bytes);
  return found;
}

static void
count_row(const td_number_rows *rows, td_number_type type, td_number_stats *stats) {
  for (int64_t i = 0; i < rows->n; i++) {
    unsigned found = look_at_element(type, rows->at + i * rows->step * rows->n_bytes);
    stats->n_nan += found & TD_NUMBERS_NAN ? rows->repeat : 0;
    stats->n_inf += found & TD_NUMBERS_INF ? rows->repeat : 0;
  }
}

void
td_numbers_count(const td_numbers *numbers, td_number_stats *stats) {
  *stats = (td_number_stats){.min = NAN, .max = NAN, .absmax = NAN, .mean = NAN, .l2 = NAN};
  if (!td_numbers_are_readable(numbers)) return;
  stats->n_elements = n_elements(numbers);
  if (!td_numbers_look(numbers)) return;
  td_number_rows rows;
  rows_of_elements(&rows, numbers);
  while (td_number_rows_next(&rows))
    count_row(&rows, numbers->type, stats);
}

/* Sums in several lanes: vectors make them faster, and their error grows more slowly. */
#define N_LANES 8
typedef struct sums {
  double scale; /* multiplies each value before it is squared and added */
  uint64_t n;
  double min, max, total[N_LANES], squares[N_LANES];
} sums;

static void
sums_add_extremes(sums *self, const double *values, int64_t n) {
  double min = self->min, max = self->max;
  for (int64_t i = 0; i < n; i++) {
    min = values[i] < min ? values[i] : min;
    max = values[i] > max ? values[i] : max;
  }
  self->min = min;
  self->max = max;
}

static void
sums_add_lanes(sums *self, const double *values, int n) {
  for (int lane = 0; lane < n; lane++) {
    double value = values[lane] * self->scale;
    self->total[lane] += value;
    self->squares[lane] += value * value;
  }
}

static void
sums_add(sums *self, const double *values, int64_t n) {
  sums sums = *self;
  int64_t whole = n / N_LANES * N_LANES;
  sums_add_extremes(&sums, values, n);
  for (int64_t i = 0; i < whole; i += N_LANES)
    sums_add_lanes(&sums, values + i, N_LANES);
  sums_add_lanes(&sums, values + whole, (int)(n - whole));
  sums.n += (uint64_t)n;
  *self = sums;
}

static double
sum_of(const double *lanes) {
  double sum = 0;
  for (int lane = 0; lane < N_LANES; lane++)
    sum += lanes[lane];
  return sum;
}

/* Moves the finite values to the front and returns how many they are. */
static int64_t
keep_finite(double *values, int64_t n) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(values[i])) values[kept++] = values[i];
  return kept;
}

/* Reads a block of values: real numbers, or the magnitudes of complex ones. */
static int64_t
read_block(td_number_type type, const char *at, int64_t n, int64_t step, double *out) {
  if (formats[type].n_parts == 1) {
    read_doubles(type, at, n, step, out);
    return all_finite(type, at, n, step) ? n : keep_finite(out, n);
  }
  double imaginary[BLOCK];
  read_doubles(part_type(type), at, n, 2 * step, out);
  read_doubles(part_type(type), at + formats[type].part_bytes, n, 2 * step, imaginary);
  for (int64_t i = 0; i < n; i++)
    out[i] = isfinite(out[i]) && isfinite(imaginary[i]) ? hypot(out[i], imaginary[i]) : NAN;
  return keep_finite(out, n);
}

static void
sum_up(const td_numbers *numbers, double scale, sums *sums) {
  td_number_rows rows;
  double block[BLOCK];
  memset(sums, 0, sizeof *sums);
  sums->scale = scale;
  sums->min = INFINITY;
  sums->max = -INFINITY;
  rows_of_elements(&rows, numbers);
  while (td_number_rows_next(&rows))
    for (int64_t i = 0; i < rows.n; i += BLOCK) {
      const char *at = rows.at + i * rows.step * rows.n_bytes;
      sums_add(sums, block, read_block(numbers->type, at, block_at(&rows, i), rows.step, block));
    }
}

/* The squares or sums of magnitudes beyond these are no ordinary doubles. */
#define TOO_GREAT 0x1p480
#define TOO_SMALL 0x1p-480

void
td_numbers_measure(const td_numbers *numbers, td_number_stats *stats) {
  td_numbers_count(numbers, stats);
  if (!td_numbers_are_readable(numbers) || stats->n_elements == 0) return;
  sums sums;
  sum_up(numbers, 1, &sums);
  if (sums.n == 0) return;
  double absmax = fmax(fabs(sums.min), fabs(sums.max)), scale = 1;
  if (absmax > TOO_GREAT) scale = 0x1p-600;
  if (absmax < TOO_SMALL) scale = 0x1p600;
  if (scale != 1) sum_up(numbers, scale, &sums);
  td_number_rows rows;
  rows_of_elements(&rows, numbers);
  stats->min = sums.min;
  stats->max = sums.max;
  stats->absmax = absmax;
  stats->mean = sum_of(sums.total) / (double)sums.n / scale;
  stats->l2 = sqrt(sum_of(sums.squares) * (double)rows.repeat) / scale;
}

/* One row along the last dimension. */
static void
survey_row(const td_numbers *numbers, const char *at, int64_t n, int64_t step, uint64_t *n_zero,
           uint64_t *n_twins) {
  double block[BLOCK], before = NAN;
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t now = n - i < BLOCK ? n - i : BLOCK;
    read_doubles(numbers->type, at + i * step * formats[numbers->type].n_bytes, now, step, block);
    for (int64_t k = 0; k < now; k++) {
      *n_zero += block[k] == 0;
      *n_twins += block[k] == before;
      before = block[k];
    }
  }
}

void
td_numbers_survey(const td_numbers *numbers, uint64_t *n_zero, uint64_t *n_twins) {
  *n_zero = *n_twins = 0;
  if (!td_numbers_are_readable(numbers) || formats[numbers->type].n_parts != 1) return;
  int n_outer = numbers->n_dims - 1;
  int64_t at[TD_NUMBERS_MAX_DIMS] = {0}, n = n_outer < 0 ? 1 : numbers->sizes[n_outer];
  int64_t step = n_outer < 0 ? 0 : numbers->strides[n_outer];
  uint64_t left = n ? n_elements(numbers) / (uint64_t)n : 0;
  for (; left > 0; left--) {
    int64_t offset = 0;
    for (int dim = 0; dim < n_outer; dim++)
      offset += at[dim] * numbers->strides[dim];
    const char *row = (const char *)numbers->data + offset * formats[numbers->type].n_bytes;
    survey_row(numbers, row, n, step, n_zero, n_twins);
    for (int dim = n_outer - 1; dim >= 0 && ++at[dim] == numbers->sizes[dim]; dim--)
      at[dim] = 0;
  }
}

/* Half a unit above the greatest number: it is rounded to even, which is the infinity. */
bool
td_numbers_overflow(double absmax, td_number_type type) {
  switch (type) {
  case TD_NUMBER_FLOAT16:
    return absmax >= 0x1.ffep15;
  case TD_NUMBER_BFLOAT16:
    return absmax >= 0x1.ffp127;
  case TD_NUMBER_FLOAT32:
    return absmax >= 0x1.ffffffp127;
  default:
    return false;
  }
}
