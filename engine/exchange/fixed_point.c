/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/fixed_point.h"

#define LIMIT (UINT64_C(1) << 61)

static bool
push_digit(uint64_t *number, unsigned digit) {
  if (*number > (LIMIT - digit) / 10) return false;
  *number = *number * 10 + digit;
  return true;
}

/* "e+12" and the end of the text; no exponent is 0. */
static bool
read_exponent(const char *at, const char *end, int *exponent) {
  *exponent = 0;
  if (at == end) return true;
  if (*at != 'e' && *at != 'E') return false;
  bool negative = ++at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at == end) return false;
  for (; at < end; at++) {
    if (*at < '0' || *at > '9') return false;
    if (*exponent < 10000) *exponent = *exponent * 10 + (*at - '0');
  }
  if (negative) *exponent = -*exponent;
  return true;
}

/* Digits before and after the point; `shift` counts those after it that were taken. */
static const char *
read_digits(const char *at, const char *end, uint64_t *number, int *shift) {
  bool after_point = false, any = false, full = false;
  for (; at < end; at++) {
    if (*at == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (*at < '0' || *at > '9') break;
    any = true;
    full = full || !push_digit(number, (unsigned)(*at - '0'));
    if (full && !after_point) return NULL;
    *shift += after_point && !full; /* decimals too fine to be held are dropped */
  }
  return any ? at : NULL;
}

bool
td_fixed_point_read(const char *text, size_t length, int decimals, int64_t *value) {
  const char *at = text, *end = text + length;
  uint64_t number = 0;
  int shift = 0, exponent;
  bool negative = at < end && *at == '-';
  at = read_digits(at + negative, end, &number, &shift);
  if (!at || !read_exponent(at, end, &exponent)) return false;
  for (shift = decimals + exponent - shift; shift > 0 && number; shift--)
    if (!push_digit(&number, 0)) return false;
  for (; shift < 0 && number; shift++)
    number /= 10;
  *value = negative ? -(int64_t)number : (int64_t)number;
  return true;
}
