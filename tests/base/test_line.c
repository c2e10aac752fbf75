/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/line.h"

#include <glib.h>
#include <string.h>

static void
assert_line(const char *text, size_t max, const char *expected) {
  g_autofree char *line = td_line_dup(text, max);
  g_assert_cmpstr(line, ==, expected);
}

static void
test_whole(void) {
  assert_line("", 8, "");
  assert_line("12345678", 8, "12345678");
  assert_line("1\n3\n\n6", 8, "1 3  6");
  g_assert_cmpuint(td_line_cut("12345678", 8), ==, 8);
}

static void
test_cut(void) {
  assert_line("123456789", 8, "12345…");
  assert_line("1\n3456789", 8, "1 345…");
}

/* Wherever the cut falls, what is shown is UTF-8 and no longer than asked. */
static void
test_characters(void) {
  static const char text[] = "aé€𝄞aé€𝄞aé€𝄞aé€𝄞";
  for (size_t max = 3; max < sizeof text; max++) {
    g_autofree char *line = td_line_dup(text, max);
    g_assert_true(g_utf8_validate(line, -1, NULL));
    g_assert_cmpuint(strlen(line), <=, max);
    g_assert_cmpuint(strlen(line) + 3, >=, MIN(max, sizeof text - 1));
  }
}

static void
test_not_utf8(void) {
  g_autofree char *bytes = g_strnfill(300, '\x80');
  g_autofree char *line = td_line_dup(bytes, TD_NAME_SHOWN);
  g_assert_cmpuint(strlen(line), >, TD_NAME_SHOWN - 8);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/line/whole", test_whole);
  g_test_add_func("/engine/line/cut", test_cut);
  g_test_add_func("/engine/line/characters", test_characters);
  g_test_add_func("/engine/line/not-utf8", test_not_utf8);
  return g_test_run();
}
