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
  check("a\nb\n\nc", "b\n\nc\n", 1, 0, 0);
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

/* What one side alone printed moves no other line. */
static void
test_parts(void) {
  g_autoptr(GString) a = g_string_new(NULL), b = g_string_new("a warning\n");
  td_text_parting parting;
  for (int i = 0; i < 100; i++) {
    g_string_append_printf(a, "step %d loss %.4f\n", i, 1.0 / (i + 1));
    if (i == 30) g_string_append(a, "alone\nhere\n");
    g_string_append_printf(b, "step %d loss %.4f\n", i, (i == 60 ? 2.0 : 1.00001) / (i + 1));
  }
  td_text_part(a->str, b->str, 1e-5, &parting);
  g_assert_cmpuint(parting.n_parts, ==, 3);
  g_assert_cmpuint(parting.n_lines, ==, 4);
  g_assert_cmpuint(parting.n_rows, ==, 103);
  g_assert_cmpuint(parting.first, ==, 0);
  g_assert_null(parting.line_a);
  g_assert_cmpstr(parting.line_b, ==, "a warning");
  td_text_parting_clear(&parting);
}

/* An element of a tensor is as exact as the tensor's greatest one. */
static void
test_tensors(void) {
  check("tensor([[1.2345678, 0.0000012],\n        [0.5, 3.25e-3]])",
        "tensor([[1.2345679, 0.0000031],\n        [0.5, 3.251e-3]])", 0, 3, 0);
  check("tensor([1.0000e+00, 2.3e-08], dtype=torch.float64)",
        "tensor([1.0000e+00, -1.1e-08], dtype=torch.float64)", 0, 1, 0);
  check("tensor([ 0.50000001, -0.25])", "tensor([0.5, -0.25])", 0, 1, 0);
  check("tensor([1.0, 0.1000000])", "tensor([1.0, 0.1001000])", 1, 0, 0);
  check("tensor([1.0, 2.0]) 0.0000012", "tensor([1.0, 2.0]) 0.0000031", 1, 0, 0);
  check("0.0000012 tensor([1.0])", "0.0000031 tensor([1.0])", 1, 0, 0);
  check("tensor([1, 2])", "tensor([1, 3])", 1, 0, 0);
  check("tensor([1.0])", "tensor([1.0], dtype=torch.float64)", 1, 0, 0);
  check("tensor([1.0", "tensor([1.0", 0, 0, 0);
}

static void
test_first(void) {
  td_text_parting parting;
  td_text_part("a\nb\nc\n", "a\nx", 1e-5, &parting);
  g_assert_cmpuint(parting.n_rows, ==, 3);
  g_assert_cmpuint(parting.n_parts, ==, 1);
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
  g_test_add_func("/app/beside-text/parts", test_parts);
  g_test_add_func("/app/beside-text/tensors", test_tensors);
  g_test_add_func("/app/beside-text/first", test_first);
  return g_test_run();
}
