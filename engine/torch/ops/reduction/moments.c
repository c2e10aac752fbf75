/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/reduction/moments.h"

#include "engine/base/alloc.h"

#define N_LANES 16
#define RUN 1024

/* Adds `term`, of index i, over [0, n) to `total`. */
#define SUM_RUNS(T, n, total, term)                                                                \
  for (int64_t first = 0; first < (n); first += RUN) {                                             \
    int64_t end = TD_MIN(first + RUN, (n)), whole = first + (end - first) / N_LANES * N_LANES;     \
    T lanes[N_LANES] = {0};                                                                        \
    for (int64_t at = first; at < whole; at += N_LANES)                                            \
      for (int lane = 0; lane < N_LANES; lane++) {                                                 \
        const int64_t i = at + lane;                                                               \
        lanes[lane] += (term);                                                                     \
      }                                                                                            \
    for (int64_t i = whole; i < end; i++)                                                          \
      lanes[i - whole] += (term);                                                                  \
    for (int lane = 0; lane < N_LANES; lane++)                                                     \
      (total) += (double)lanes[lane];                                                              \
  }

#define DEFINE_MOMENTS(T)                                                                          \
  static double sum_##T(const T *x, int64_t n) {                                                   \
    double total = 0;                                                                              \
    SUM_RUNS(T, n, total, x[i])                                                                    \
    return total;                                                                                  \
  }                                                                                                \
  static double squares_##T(const T *x, int64_t n, T mean) {                                       \
    double total = 0;                                                                              \
    SUM_RUNS(T, n, total, (x[i] - mean) * (x[i] - mean))                                           \
    return total;                                                                                  \
  }                                                                                                \
  static double products_##T(const T *y, const T *x, int64_t n, T mean) {                          \
    double total = 0;                                                                              \
    SUM_RUNS(T, n, total, y[i] * (x[i] - mean))                                                    \
    return total;                                                                                  \
  }                                                                                                \
  static void line_##T(T *out, const T *x, const T *y, int64_t n, T a, T b, T c) {                 \
    if (!y)                                                                                        \
      for (int64_t i = 0; i < n; i++)                                                              \
        out[i] = a * x[i] + c;                                                                     \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++)                                                              \
        out[i] = a * x[i] + b * y[i] + c;                                                          \
  }
DEFINE_MOMENTS(float)
DEFINE_MOMENTS(double)

double
td_moment_sum(td_dtype dtype, const void *x, int64_t n) {
  return dtype == TD_FLOAT32 ? sum_float(x, n) : sum_double(x, n);
}

double
td_moment_squares(td_dtype dtype, const void *x, int64_t n, double mean) {
  return dtype == TD_FLOAT32 ? squares_float(x, n, (float)mean) : squares_double(x, n, mean);
}

void
td_moment_products(td_dtype dtype, const void *y, const void *x, int64_t n, double mean,
                   double sums[2]) {
  sums[0] += td_moment_sum(dtype, y, n);
  sums[1] +=
      dtype == TD_FLOAT32 ? products_float(y, x, n, (float)mean) : products_double(y, x, n, mean);
}

void
td_moment_line(td_dtype dtype, void *out, const void *x, const void *y, int64_t n, double a,
               double b, double c) {
  if (dtype == TD_FLOAT32)
    line_float(out, x, y, n, (float)a, (float)b, (float)c);
  else
    line_double(out, x, y, n, a, b, c);
}
