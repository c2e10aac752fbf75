/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where two texts part. */
#include "app/commands/beside_text.h"

/* What td_text_part says: lines that differ, numbers that are rounded, and the first line. */
static void
check(const char *a, const char *b, guint n_lines, guint n_numbers, guint first) {
  td_text_parting parting;
  td_text_part(a, b, 1e-5, &parting);
  g_assert_cmpuint(parting.n_lines, ==, n_lines);
  g_assert_cmpuint(parting.n_numbers, ==, n_numbers);
  if (n_lines) g_assert_cmpuint(parting.first, ==, first);
  td_text_parting_clear(&parting);
}

static void
test_lines(void) {
  check("", "", 0, 0, 0);
  check("a\nb\n", "a\nb", 0, 0, 0);
  check("a\nb\n", "a\nc\n", 1, 0, 1);
  check("a\n", "a\nb\nc\n", 2, 0, 1);
  check("", "a", 1, 0, 0);
  check("ab", "a", 1, 0, 0);
  check("loss 1.5", "Loss 1.5", 1, 0, 0);
}

static void
test_rounding(void) {
  check("loss 0.6931", "loss 0.6932", 0, 1, 0);
  check("loss 0.6931", "loss 0.6934", 1, 0, 0);
  check("loss 1.0000000", "loss 1.0000050", 0, 1, 0);
  check("loss 1.0000000", "loss 1.0005000", 1, 0, 0);
  check("1.234e-05 -2.5", "1.235e-05 -2.5", 0, 1, 0);
  check("1.234e-05", "1.238e-05", 1, 0, 0);
  check("2e10", "2.00001e10", 0, 1, 0);
  check("1e-05", "2e-05", 1, 0, 0);
  check("0.1 0.2", "0.1 0.3\n", 0, 1, 0); /* one in the last digit */
}

/* Whole numbers count something. */
static void
test_whole(void) {
  check("step 1000000", "step 1000001", 1, 0, 0);
  check("step 10", "step 10.0", 0, 0, 0);
  check("nan", "1.0", 1, 0, 0);
  check("-1.0", "1.0", 1, 0, 0);
}

static void
test_first(void) {
  td_text_parting parting;
  td_text_part("a\nb\nc\n", "a\nx", 1e-5, &parting);
  g_assert_cmpuint(parting.n_lines_a, ==, 3);
  g_assert_cmpuint(parting.n_lines_b, ==, 2);
  g_assert_cmpstr(parting.line_a, ==, "b");
  g_assert_cmpstr(parting.line_b, ==, "x");
  td_text_parting_clear(&parting);
  td_text_part("a\n", "", 1e-5, &parting);
  g_assert_cmpstr(parting.line_a, ==, "a");
  g_assert_null(parting.line_b);
  td_text_parting_clear(&parting);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/app/beside-text/lines", test_lines);
  g_test_add_func("/app/beside-text/rounding", test_rounding);
  g_test_add_func("/app/beside-text/whole", test_whole);
  g_test_add_func("/app/beside-text/first", test_first);
  return g_test_run();
}
