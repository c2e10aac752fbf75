/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the texts that two runs of one script printed part. Lines are aligned first, so a line that
 * one run alone printed moves no others. Two numbers at the same place are alike if they differ by
 * rounding: by a small share of their magnitude, or by one in the last digit that was printed. An
 * element of a printed tensor may differ by that share of the tensor's greatest element. Any
 * thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_text_parting {
  guint n_rows;          /* pairs of lines, and lines without a partner */
  guint n_numbers;       /* of which the lines differ by rounding alone */
  guint n_lines;         /* of the rows, that differ by more */
  guint n_parts;         /* rows that differ and follow each other are one part */
  guint first;           /* the first of these rows: its line of A, from 0 */
  char *line_a, *line_b; /* (owned) that line, NULL if a side has none there */
} td_text_parting;

/* td_text_part compares two texts. Numbers that are not whole may differ by `tolerance`, a share of
 * their magnitude or of their tensor's. */
void td_text_part(const char *a, const char *b, double tolerance, td_text_parting *parting);
void td_text_parting_clear(td_text_parting *parting);
