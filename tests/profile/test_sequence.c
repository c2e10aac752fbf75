/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/sequence.h"

#include <glib.h>
#include <stdbool.h>

/* The length of the longest common subsequence, from the definition. */
static uint32_t
longest_common(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b) {
  uint32_t *row = g_new0(uint32_t, n_b + 1), length;
  for (uint32_t i = 0; i < n_a; i++) {
    uint32_t diagonal = 0;
    for (uint32_t j = 0; j < n_b; j++) {
      uint32_t above = row[j + 1];
      row[j + 1] = a[i] == b[j] ? diagonal + 1 : MAX(row[j], above);
      diagonal = above;
    }
  }
  length = row[n_b];
  g_free(row);
  return length;
}

/* Partners are equal and rise; returns how many there are. */
static uint32_t
check_match(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b) {
  uint32_t *match = g_new(uint32_t, n_a + 1), n = 0, next = 0;
  g_assert_cmpint(td_sequence_match(a, n_a, b, n_b, match), ==, TD_OK);
  for (uint32_t i = 0; i < n_a; i++) {
    if (match[i] == UINT32_MAX) continue;
    g_assert_cmpuint(match[i], <, n_b);
    g_assert_cmpuint(match[i], >=, next);
    g_assert_cmpuint(a[i], ==, b[match[i]]);
    next = match[i] + 1;
    n++;
  }
  g_free(match);
  return n;
}

static void
fill(uint64_t *keys, uint32_t n, int n_kinds) {
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (uint64_t)g_test_rand_int_range(0, n_kinds);
}

static void
test_is_longest(void) {
  uint64_t a[60], b[60];
  for (int round = 0; round < 2000; round++) {
    uint32_t n_a = (uint32_t)g_test_rand_int_range(0, 60);
    uint32_t n_b = (uint32_t)g_test_rand_int_range(0, 60);
    int n_kinds = g_test_rand_int_range(1, 12);
    fill(a, n_a, n_kinds);
    fill(b, n_b, n_kinds);
    g_assert_cmpuint(check_match(a, n_a, b, n_b), ==, longest_common(a, n_a, b, n_b));
  }
}

/* Nothing in common over a long way, then everything: the search is cut and goes on. */
static void
test_beyond_its_limit(void) {
  uint32_t n = 20000, strange = 5000;
  uint64_t *a = g_new(uint64_t, n), *b = g_new(uint64_t, n);
  for (uint32_t i = 0; i < n; i++) {
    bool is_strange = i >= n / 2 && i < n / 2 + strange;
    a[i] = i;
    b[i] = is_strange ? n + i : i;
  }
  a[n - 1] = 7 * n; /* no equal ends to trim */
  g_assert_cmpuint(check_match(a, n, b, n), >=, n / 2);
  g_assert_cmpuint(check_match(a, n, b + strange, n - strange), >=, n / 4);
  g_free(a);
  g_free(b);
}

static void
test_rising(void) {
  const uint32_t places[] = {3, 1, 2, 9, 4, 5, 8};
  uint32_t length;
  g_assert_cmpint(td_sequence_rising(places, G_N_ELEMENTS(places), &length), ==, TD_OK);
  g_assert_cmpuint(length, ==, 5);
  g_assert_cmpint(td_sequence_rising(NULL, 0, &length), ==, TD_OK);
  g_assert_cmpuint(length, ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/profile/sequence/is-longest", test_is_longest);
  g_test_add_func("/profile/sequence/beyond-its-limit", test_beyond_its_limit);
  g_test_add_func("/profile/sequence/rising", test_rising);
  return g_test_run();
}
