/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the texts that two runs of one script printed part. Two numbers at the same place are alike
 * if they differ by rounding. So they differ by a small share of their magnitude, or by one in the
 * last digit that was printed. Any thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_text_parting {
  guint n_lines_a, n_lines_b;
  guint n_numbers;       /* of which the lines differ by rounding alone */
  guint n_lines;         /* that differ by more; missing ones count */
  guint first;           /* the first of these, from 0 */
  char *line_a, *line_b; /* (owned) that line, NULL if a text has ended */
} td_text_parting;

/* td_text_part compares line by line. Numbers that are not whole may differ by `tolerance`, a share
 * of their magnitude. */
void td_text_part(const char *a, const char *b, double tolerance, td_text_parting *parting);
void td_text_parting_clear(td_text_parting *parting);
