/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A map of numbers: what was put is found, any key is allowed, a new key has the value 0. */
#include "engine/base/number_map.h"

#include <glib.h>

static void
test_any_key(void) {
  const uint64_t keys[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX - 1, UINT64_MAX};
  td_number_map map = {0};
  for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_assert_null(td_number_map_find(&map, keys[i]));
    g_assert_cmpuint(*td_number_map_put(&map, keys[i]), ==, 0);
    *td_number_map_put(&map, keys[i]) = i + 1;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
    g_assert_cmpuint(*td_number_map_find(&map, keys[i]), ==, i + 1);
  g_assert_null(td_number_map_find(&map, 2));
  td_number_map_fini(&map);
  g_assert_null(td_number_map_find(&map, 0));
}

static void
test_entries_in_order(void) {
  td_number_map map = {0};
  for (uint64_t i = 0; i < 1000; i++)
    *td_number_map_put(&map, i * 4096) += i;
  g_assert_cmpuint(map.n, ==, 1000);
  for (uint64_t i = 0; i < 1000; i++) {
    g_assert_cmpuint(map.entries[i].key, ==, i * 4096);
    g_assert_cmpuint(map.entries[i].value, ==, i);
  }
  td_number_map_fini(&map);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/number_map/any_key", test_any_key);
  g_test_add_func("/engine/number_map/entries_in_order", test_entries_in_order);
  return g_test_run();
}
