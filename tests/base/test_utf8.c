/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GLib is the oracle. */
#include "engine/base/utf8.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that make characters, parts of characters and nonsense. */
static void
make_bytes(GRand *random, char *bytes, int n) {
  static const char *const pieces[] = {
      "a",    "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xc0\x80",
      "\xff", "\xe2\x82", "\x80",         "\xf4\x90\x80\x80"};
  GString *text = g_string_new(NULL);
  while (text->len < (gsize)n)
    g_string_append(text, pieces[g_rand_int_range(random, 0, G_N_ELEMENTS(pieces))]);
  memcpy(bytes, text->str, (gsize)n);
  bytes[n] = '\0';
  g_string_free(text, TRUE);
}

static void
test_random(void) {
  GRand *random = g_rand_new_with_seed(1);
  int n_valid = 0;
  for (int i = 0; i < 20000; i++) {
    char bytes[12];
    int n = g_rand_int_range(random, 0, 10);
    make_bytes(random, bytes, n);
    bool is_valid = g_utf8_validate(bytes, n, NULL);
    char *expected = g_utf8_make_valid(bytes, n), *made = td_utf8_dup(bytes, (size_t)n);
    g_assert_cmpint(td_utf8_is_valid(bytes, (size_t)n), ==, is_valid);
    g_assert_cmpstr(made, ==, expected);
    char *remade = td_utf8_make(strdup(bytes));
    g_assert_cmpstr(remade, ==, expected);
    n_valid += is_valid;
    g_free(expected);
    free(made);
    free(remade);
  }
  g_assert_cmpint(n_valid, >, 1000);
  g_assert_cmpint(n_valid, <, 19000);
  g_rand_free(random);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/utf8/random", test_random);
  return g_test_run();
}
