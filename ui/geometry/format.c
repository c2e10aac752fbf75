/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/format.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
  double size;
  const char *name;
} unit;

/* Three significant digits without trailing zeros, so that 4.00 reads "4". */
static char *
format_in_unit(double value, const unit *units, size_t n_units) {
  size_t i = 0;
  while (i + 1 < n_units && fabs(value) >= units[i + 1].size * 0.9995)
    i++;
  double scaled = value / units[i].size;
  double size = fabs(scaled);
  int decimals = i == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char *number = td_format("%.*f", decimals, scaled);
  if (strchr(number, '.')) {
    char *end = number + strlen(number);
    while (end[-1] == '0')
      *--end = '\0';
    if (end[-1] == '.') end[-1] = '\0';
  }
  char *text = td_format("%s %s", number, units[i].name);
  free(number);
  return text;
}

char *
td_format_ns(double ns) {
  static const unit units[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
  return format_in_unit(ns, units, TD_N_ELEMENTS(units));
}

char *
td_format_bytes(uint64_t bytes) {
  static const unit units[] = {{1, "B"},
                               {1024.0, "KiB"},
                               {1024.0 * 1024, "MiB"},
                               {1024.0 * 1024 * 1024, "GiB"},
                               {1024.0 * 1024 * 1024 * 1024, "TiB"}};
  return format_in_unit((double)bytes, units, TD_N_ELEMENTS(units));
}

char *
td_format_figure(uint64_t ns, uint64_t bytes) {
  if (ns) return td_format_ns((double)ns);
  return bytes ? td_format_bytes(bytes) : td_dup_string("");
}

char *
td_format_count(uint64_t count) {
  static const char separator[] = "\xe2\x80\xaf"; /* narrow no-break space */
  char *digits = td_format("%" PRIu64, count);
  size_t n = strlen(digits), at = 0;
  char *text = td_alloc(n + n / 3 * 3 + 1, 1);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0) {
      memcpy(text + at, separator, 3);
      at += 3;
    }
    text[at++] = digits[i];
  }
  free(digits);
  return text;
}

char *
td_format_many(uint64_t count, const char *one, const char *many) {
  char *number = td_format_count(count);
  char *text = td_format("%s %s", number, dngettext(TD_TEXT_DOMAIN, one, many, count));
  free(number);
  return text;
}

char *
td_format_op(const char *name) {
  static const char suffix[] = "Backward";
  size_t length = strlen(name), end = length;
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
    end--;
  size_t stem = end - TD_MIN(end, strlen(suffix));
  if (stem == 0 || strncmp(name + stem, suffix, strlen(suffix))) return td_dup_string(name);
  const char *number = name + end;
  if (!*number || !strcmp(number, "0")) return td_format("%.*s", (int)stem, name);
  return td_format("%.*s·%s", (int)stem, name, number);
}
