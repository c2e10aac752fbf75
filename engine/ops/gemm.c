/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/ops/gemm.h"

#include "engine/base/alloc.h"
#include "engine/tensor/walk.h"

#include <string.h>

/* A tile of c is summed in registers: 4 x 8 floats are 8 of the 16 vector registers of any x86-64.
 */
#define TILE_ROWS 4
#define TILE_COLUMNS 8

/* Copies columns of b to [k][TILE_COLUMNS], zeros where b has no more: they are then read in order.
 */
#define DEFINE_GEMM(suffix, T)                                                                     \
  static void pack_##suffix(T *panel, int64_t k, int64_t columns, const T *b, td_matrix shape) {   \
    for (int64_t row = 0; row < k; row++)                                                          \
      for (int64_t column = 0; column < TILE_COLUMNS; column++)                                    \
        panel[row * TILE_COLUMNS + column] =                                                       \
            column < columns ? b[row * shape.row_step + column * shape.column_step] : 0;           \
  }                                                                                                \
  static void tile_##suffix(int64_t rows, int64_t k, int64_t columns, const T *a,                  \
                            td_matrix a_shape, const T *panel, T *c, td_matrix c_shape,            \
                            bool accumulate) {                                                     \
    T sums[TILE_ROWS][TILE_COLUMNS] = {{0}};                                                       \
    const T *row[TILE_ROWS];                                                                       \
    for (int r = 0; r < TILE_ROWS; r++)                                                            \
      row[r] = a + TD_MIN(r, rows - 1) * a_shape.row_step;                                         \
    for (int64_t i = 0; i < k; i++)                                                                \
      for (int r = 0; r < TILE_ROWS; r++) {                                                        \
        const T x = row[r][i * a_shape.column_step];                                               \
        for (int column = 0; column < TILE_COLUMNS; column++)                                      \
          sums[r][column] += x * panel[i * TILE_COLUMNS + column];                                 \
      }                                                                                            \
    for (int64_t r = 0; r < rows; r++)                                                             \
      for (int64_t column = 0; column < columns; column++) {                                       \
        T *to = &c[r * c_shape.row_step + column * c_shape.column_step];                           \
        *to = accumulate ? *to + sums[r][column] : sums[r][column];                                \
      }                                                                                            \
  }                                                                                                \
  static void gemm_##suffix(int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b,             \
                            td_matrix c, bool accumulate) {                                        \
    T *panel = TD_NEW_N(T, k * TILE_COLUMNS);                                                      \
    for (int64_t column = 0; column < m; column += TILE_COLUMNS) {                                 \
      int64_t columns = TD_MIN(TILE_COLUMNS, m - column);                                          \
      pack_##suffix(panel, k, columns, (const T *)b.data + column * b.column_step, b);             \
      for (int64_t row = 0; row < n; row += TILE_ROWS)                                             \
        tile_##suffix(TD_MIN(TILE_ROWS, n - row), k, columns,                                      \
                      (const T *)a.data + row * a.row_step, a, panel,                              \
                      (T *)c.data + row * c.row_step + column * c.column_step, c, accumulate);     \
    }                                                                                              \
    free(panel);                                                                                   \
  }

DEFINE_GEMM(float32, float)
DEFINE_GEMM(float64, double)
DEFINE_GEMM(int64, int64_t)

void
td_gemm(td_dtype dtype, int64_t n, int64_t k, int64_t m, td_matrix a, td_matrix b, td_matrix c,
        bool accumulate) {
  if (dtype == TD_FLOAT32)
    gemm_float32(n, k, m, a, b, c, accumulate);
  else if (dtype == TD_FLOAT64)
    gemm_float64(n, k, m, a, b, c, accumulate);
  else
    gemm_int64(n, k, m, a, b, c, accumulate);
}
