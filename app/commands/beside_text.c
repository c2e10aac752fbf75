/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/beside_text.h"

#include <math.h>

/* A number as a program prints it: 1, -2.50, 1e-05. Words such as nan are text. */
typedef struct printed_number {
  double value;
  double unit; /* of its last digit behind the point; 0 if it has no point */
  bool whole;
} printed_number;

static const char *
skip_digits(const char *at) {
  while (g_ascii_isdigit(*at))
    at++;
  return at;
}

static bool
take_number(const char **at, printed_number *number) {
  const char *digits = **at == '-' || **at == '+' ? *at + 1 : *at;
  char *end;
  if (!g_ascii_isdigit(*digits)) return false;
  number->value = g_ascii_strtod(*at, &end);
  const char *point = skip_digits(digits);
  const char *last = *point == '.' ? skip_digits(point + 1) : point;
  double scale = last < end ? pow(10, g_ascii_strtod(last + 1, NULL)) : 1;
  number->unit = last > point ? scale * pow(10, (double)(point + 1 - last)) : 0;
  number->whole = end == point;
  *at = end;
  return true;
}

/* Whole numbers count something, so they must be equal. */
static bool
are_alike(const printed_number *a, const printed_number *b, double tolerance) {
  double difference = fabs(a->value - b->value);
  if (difference == 0) return true;
  if (a->whole && b->whole) return false;
  double size = fmax(fabs(a->value), fabs(b->value));
  return difference <= fmax(tolerance * size, 1.5 * fmax(a->unit, b->unit));
}

/* Adds to *n_numbers how many numbers differ by rounding. */
static bool
lines_agree(const char *a, const char *b, double tolerance, guint *n_numbers) {
  while (*a && *b) {
    printed_number number_a, number_b;
    const char *after_a = a, *after_b = b;
    if (take_number(&after_a, &number_a) && take_number(&after_b, &number_b)) {
      if (!are_alike(&number_a, &number_b, tolerance)) return false;
      *n_numbers += number_a.value != number_b.value;
      a = after_a;
      b = after_b;
    } else if (*a++ != *b++)
      return false;
  }
  return *a == *b;
}

static void
take_line(td_text_parting *parting, guint line, const char *a, const char *b) {
  if (parting->n_lines++) return;
  parting->first = line;
  parting->line_a = g_strdup(a);
  parting->line_b = g_strdup(b);
}

/* A line feed at the end begins no line. */
static char **
split(const char *text, guint *n) {
  char **lines = g_strsplit(text, "\n", -1);
  *n = g_strv_length(lines);
  if (*n && !*lines[*n - 1]) g_clear_pointer(&lines[--*n], g_free);
  return lines;
}

void
td_text_part(const char *a, const char *b, double tolerance, td_text_parting *parting) {
  *parting = (td_text_parting){0};
  g_auto(GStrv) lines_a = split(a, &parting->n_lines_a);
  g_auto(GStrv) lines_b = split(b, &parting->n_lines_b);
  for (guint i = 0; i < MAX(parting->n_lines_a, parting->n_lines_b); i++) {
    const char *line_a = i < parting->n_lines_a ? lines_a[i] : NULL;
    const char *line_b = i < parting->n_lines_b ? lines_b[i] : NULL;
    if (!line_a || !line_b || !lines_agree(line_a, line_b, tolerance, &parting->n_numbers))
      take_line(parting, i, line_a, line_b);
  }
}

void
td_text_parting_clear(td_text_parting *parting) {
  g_free(parting->line_a);
  g_free(parting->line_b);
}
