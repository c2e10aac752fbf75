/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/fused.h"

#include <math.h>

#define FMA(x, y, z) _Generic(x, float : fmaf, double : fma)(x, y, z)

/* Each formula, of x, a, b and the number v. */
#define FUSED_ADD FMA(a, v, x)
#define FUSED_ADDCMUL FMA((T)(v * a), b, x)
#define FUSED_ADDCDIV (T)(x + (T)(v * a) / b)
#define LERP(w)                                                                                    \
  (fabs((double)(w)) < 0.5 ? FMA((T)(w), (T)(a - x), x) : FMA((T)((w)-1), (T)(a - x), a))
#define FUSED_LERP LERP(v)
#define FUSED_LERP_TENSOR LERP(b)

#define LOOP(T_, o_step, x_step, a_step, b_step, formula)                                          \
  for (int64_t i = 0; i < n; i++) {                                                                \
    typedef T_ T;                                                                                  \
    const T x = px[i * (x_step)], a = pa[i * (a_step)], b = pb[i * (b_step)];                      \
    (void)b;                                                                                       \
    po[i * (o_step)] = formula;                                                                    \
  }

/* A row of one type. The dense case alone is worth vectors. */
#define ROW(T, name, formula)                                                                      \
  static inline __attribute__((always_inline)) void name##_##T(int64_t n, const int64_t *step,     \
                                                               void *const *at, T v) {             \
    T *po = at[0];                                                                                 \
    const T *px = at[1], *pa = at[2], *pb = at[3];                                                 \
    if (step[0] == 1 && step[1] == 1 && step[2] == 1 && step[3] == 1)                              \
      LOOP(T, 1, 1, 1, 1, formula)                                                                 \
    else                                                                                           \
      LOOP(T, step[0], step[1], step[2], step[3], formula)                                         \
  }
#define ROWS(T)                                                                                    \
  ROW(T, add, FUSED_ADD)                                                                           \
  ROW(T, addcmul, FUSED_ADDCMUL)                                                                   \
  ROW(T, addcdiv, FUSED_ADDCDIV)                                                                   \
  ROW(T, lerp, FUSED_LERP)                                                                         \
  ROW(T, lerp_tensor, FUSED_LERP_TENSOR)
ROWS(float)
ROWS(double)

#define SWITCH(T)                                                                                  \
  switch (fused) {                                                                                 \
  case TD_FUSED_ADD:                                                                               \
    add_##T(n, step, at, (T)value);                                                                \
    break;                                                                                         \
  case TD_FUSED_ADDCMUL:                                                                           \
    addcmul_##T(n, step, at, (T)value);                                                            \
    break;                                                                                         \
  case TD_FUSED_ADDCDIV:                                                                           \
    addcdiv_##T(n, step, at, (T)value);                                                            \
    break;                                                                                         \
  case TD_FUSED_LERP:                                                                              \
    lerp_##T(n, step, at, (T)value);                                                               \
    break;                                                                                         \
  case TD_FUSED_LERP_TENSOR:                                                                       \
    lerp_tensor_##T(n, step, at, (T)value);                                                        \
    break;                                                                                         \
  }

typedef void (*row_function)(td_fused fused, td_dtype dtype, int64_t n, const int64_t *step,
                             void *const *at, double value);

#define RUN_ROW(name)                                                                              \
  static void name(td_fused fused, td_dtype dtype, int64_t n, const int64_t *step,                 \
                   void *const *at, double value) {                                                \
    if (dtype == TD_FLOAT64)                                                                       \
      SWITCH(double)                                                                               \
    else                                                                                           \
      SWITCH(float)                                                                                \
  }

RUN_ROW(plain_row)
#ifdef __x86_64__
/* The same, compiled for processors that have the instruction. */
__attribute__((target("avx2,fma"))) RUN_ROW(fast_row)
#endif

    static row_function choose_row(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return fast_row;
#endif
  return plain_row;
}

bool
td_fused_can(td_dtype dtype) {
  return td_dtype_is_floating(dtype);
}

void
td_fused_rows(td_fused fused, td_dtype dtype, td_walk *walk, double value) {
  static const int places[][4] = {[2] = {0, 0, 1, 1}, [3] = {0, 1, 2, 2}, [4] = {0, 1, 2, 3}};
  const int *place = places[walk->n_tensors];
  row_function row = choose_row();
  int64_t step[4];
  void *at[4];
  while (td_walk_row(walk)) {
    for (int i = 0; i < 4; i++) {
      step[i] = walk->step[place[i]];
      at[i] = walk->at[place[i]];
    }
    row(fused, dtype, walk->n, step, at, value);
  }
}
