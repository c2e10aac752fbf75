/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/answer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool
is_blank(const char *text) {
  while (isspace((unsigned char)*text))
    text++;
  return *text == '\0';
}

static bool
read_number(const char *text, uint64_t *number) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  *number = value;
  return isdigit((unsigned char)*text) && errno == 0 && value <= UINT32_MAX && is_blank(end);
}

static bool
read_pattern(const char *text, uint64_t *pattern) {
  char *end;
  uint32_t bits;
  if (strncasecmp(text, "0x", 2) == 0) {
    *pattern = strtoull(text, &end, 16);
    return end - text == 10 && is_blank(end);
  }
  float value = (float)strtod(text, &end);
  memcpy(&bits, &value, sizeof bits);
  *pattern = bits;
  return end != text && isfinite(value) && is_blank(end);
}

bool
td_answer_read(td_answer_form form, const char *text, uint64_t *value) {
  while (isspace((unsigned char)*text))
    text++;
  return form == TD_ANSWER_pattern ? read_pattern(text, value) : read_number(text, value);
}
