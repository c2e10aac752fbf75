/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/pointwise/cephes.h"

#include "engine/base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint32_t
bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float
float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Horner's scheme, the highest power first. */
static float
polynomial(float x, int n, const float *coefficients) {
  float sum = coefficients[0];
  for (int i = 1; i < n; i++)
    sum = fmaf(sum, x, coefficients[i]);
  return sum;
}

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)); ln 2 is split in two so that e times its first part is
 * exact. */
float
td_cephes_log(float x) {
  static const float p[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                            -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                            2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  float e = (float)((int)(bits_of(x) >> 23) - 0x7e);
  float m = float_of((bits_of(x) & ~0x7f800000u) | bits_of(0.5f));
  if (m < 0.707106781186547524f) {
    e -= 1;
    m += m - 1;
  } else {
    m -= 1;
  }
  float square = m * m;
  float y = polynomial(m, TD_N_ELEMENTS(p), p) * m;
  y = fmaf(y, square, e * -2.12194440e-4f);
  y = fmaf(square, -0.5f, y);
  return fmaf(e, 0.693359375f, m + y);
}

/* x = j pi/4 + rest with j even: j says which of the two polynomials is the sine, and the signs. */
void
td_cephes_sincos(float x, float *sine, float *cosine) {
  static const float sin_p[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
  static const float cos_p[] = {2.443315711809948e-5f, -1.388731625493765e-3f,
                                4.166664568298827e-2f};
  uint32_t j = ((uint32_t)(x * 1.27323954473516f) + 1) & ~1u;
  float octants = (float)j;
  float rest = fmaf(octants, -0.78515625f, x);
  rest = fmaf(octants, -2.4187564849853515625e-4f, rest);
  rest = fmaf(octants, -3.77489497744594108e-8f, rest);
  float square = rest * rest;
  float c = polynomial(square, TD_N_ELEMENTS(cos_p), cos_p) * square;
  c = fmaf(c, square, -0.5f * square) + 1;
  float s = polynomial(square, TD_N_ELEMENTS(sin_p), sin_p) * square;
  s = fmaf(s, rest, rest);
  bool swapped = j & 2;
  *sine = float_of(bits_of(swapped ? c : s) ^ (j & 4) << 29);
  *cosine = float_of(bits_of(swapped ? s : c) ^ (~(j - 2) & 4) << 29);
}
