/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/terminal.h"

#include <glib.h>
#include <string.h>

static void
assert_escaped(const char *bytes, gsize n, bool last, gsize taken, const char *expected) {
  char *text;
  gsize length;
  g_assert_cmpuint(td_terminal_escape(bytes, n, last, &text, &length), ==, taken);
  g_assert_cmpmem(text, length, expected, strlen(expected));
  g_free(text);
}

static void
test_characters(void) {
  assert_escaped("plain\ttext\n", 11, true, 11, "plain\ttext\n");
  assert_escaped("\033[31m", 5, true, 5, "\\u001b[31m");
  assert_escaped("a\0b\r", 4, true, 4, "a\\u0000b\\u000d");
  assert_escaped("\302\2331m", 4, true, 4, "\\u009b1m");
  assert_escaped("é \342\200\256", 6, true, 6, "é \\u202e");
}

/* An eight-bit terminal takes a lone byte from 0x80 to 0x9f for a control character. */
static void
test_no_utf8(void) {
  assert_escaped("\2331m", 3, true, 3, "\\x9b1m");
  assert_escaped("\300\233", 2, true, 2, "\\xc0\\x9b");
  assert_escaped("\355\240\200", 3, true, 3, "\\xed\\xa0\\x80");
}

/* Wherever a text is cut into two writes, the same comes out. */
static void
test_cut(void) {
  const char *text = "é\342\200\256\360\237\230\200x\355\033\302";
  gsize n = strlen(text);
  for (gsize cut = 0; cut <= n; cut++) {
    char *head, *tail, *whole;
    gsize n_head, n_tail, n_whole;
    gsize taken = td_terminal_escape(text, cut, false, &head, &n_head);
    g_assert_cmpuint(cut - taken, <, 4);
    td_terminal_escape(text + taken, n - taken, true, &tail, &n_tail);
    td_terminal_escape(text, n, true, &whole, &n_whole);
    char *joined = g_strconcat(head, tail, NULL);
    g_assert_cmpstr(joined, ==, whole);
    g_assert_cmpuint(n_head + n_tail, ==, n_whole);
    g_free(joined);
    g_free(head);
    g_free(tail);
    g_free(whole);
  }
  assert_escaped("\342\200", 2, false, 0, "");
  assert_escaped("\342\200", 2, true, 2, "\\xe2\\x80");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/app/terminal/characters", test_characters);
  g_test_add_func("/app/terminal/no-utf8", test_no_utf8);
  g_test_add_func("/app/terminal/cut", test_cut);
  return g_test_run();
}
