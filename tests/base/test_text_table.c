/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texts with numbers: the same text has the same number, and the number gives the text back. */
#include "engine/base/text_table.h"

#include <glib.h>
#include <string.h>

static uint32_t
put(td_text_table *table, const char *text) {
  return td_text_table_put(table, text, strlen(text));
}

static void
test_numbers(void) {
  td_text_table table = {0};
  g_assert_cmpuint(put(&table, "MulBackward0"), ==, 1);
  g_assert_cmpuint(put(&table, ""), ==, 0);
  g_assert_cmpuint(put(&table, "AddBackward0"), ==, 2);
  g_assert_cmpuint(put(&table, "MulBackward0"), ==, 1);
  g_assert_cmpuint(put(&table, "Mul"), ==, 3); /* the beginning of another */
  g_assert_cmpuint(put(&table, "MulBackward"), ==, 4);
  g_assert_cmpstr(td_text_table_get(&table, 0), ==, "");
  g_assert_cmpstr(td_text_table_get(&table, 1), ==, "MulBackward0");
  g_assert_cmpstr(td_text_table_get(&table, 4), ==, "MulBackward");
  g_assert_cmpstr(td_text_table_get(&table, 5), ==, "");
  td_text_table_fini(&table);
}

static void
test_length(void) {
  td_text_table table = {0};
  g_assert_cmpuint(td_text_table_put(&table, "MulBackward0", 3), ==, 1);
  g_assert_cmpuint(td_text_table_put(&table, "Mul\0Add", 7), ==, 1); /* ends at its zero */
  g_assert_cmpuint(td_text_table_put(&table, "Mul", 0), ==, 0);
  g_assert_cmpstr(td_text_table_get(&table, 1), ==, "Mul");
  td_text_table_fini(&table);
}

static void
test_many(void) {
  td_text_table table = {0};
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 1; i <= 5000; i++) {
      g_autofree char *text = g_strdup_printf("text %u", i);
      g_assert_cmpuint(put(&table, text), ==, i);
      g_assert_cmpstr(td_text_table_get(&table, i), ==, text);
    }
  g_assert_cmpuint(table.n, ==, 5000);
  td_text_table_fini(&table);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/text_table/numbers", test_numbers);
  g_test_add_func("/engine/text_table/length", test_length);
  g_test_add_func("/engine/text_table/many", test_many);
  return g_test_run();
}
