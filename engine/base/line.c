/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/line.h"

#include "engine/base/alloc.h"

#include <stdbool.h>
#include <string.h>

static bool
is_inside_character(char byte) {
  return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t
td_line_cut(const char *text, size_t max) {
  size_t n = strnlen(text, max + 1);
  if (n <= max) return n;
  n = max - strlen(TD_LINE_CUT);
  for (size_t i = 0; i < 3 && is_inside_character(text[n]); i++)
    n--;
  return n;
}

char *
td_line_dup(const char *text, size_t max) {
  size_t n = td_line_cut(text, max);
  char *line = td_format("%.*s%s", (int)n, text, text[n] ? TD_LINE_CUT : "");
  for (char *at = strchr(line, '\n'); at; at = strchr(at, '\n'))
    *at = ' ';
  return line;
}

char *
td_line_make(char *text, size_t max) {
  char *line = td_line_dup(text, max);
  free(text);
  return line;
}
