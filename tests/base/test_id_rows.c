/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Id rows against a hash table of GLib: ids in a row, in runs, and strewn over all numbers. */
#include "engine/base/id_rows.h"

#include <glib.h>
#include <stdlib.h>

/* A way to choose ids, and the ids below which they are near. */
typedef struct Ids {
  const char *name;
  uint32_t (*choose)(GRand *random, uint32_t i);
  uint32_t near;
} Ids;

static uint32_t
choose_in_order(GRand *random, uint32_t i) {
  return i;
}

/* As threads that overtake each other give them. */
static uint32_t
choose_nearly_in_order(GRand *random, uint32_t i) {
  return i ^ 3;
}

/* Few small ones, and most in a row near the end of all numbers. */
static uint32_t
choose_of_long_run(GRand *random, uint32_t i) {
  return i % 7 ? UINT32_MAX - 9000 + i : (uint32_t)g_rand_int_range(random, 0, 500);
}

static uint32_t
choose_strewn(GRand *random, uint32_t i) {
  return g_rand_int(random) >> g_rand_int_range(random, 0, 30);
}

static const Ids all[] = {{"in-order", choose_in_order, 4000},
                          {"nearly-in-order", choose_nearly_in_order, 4000},
                          {"of-long-run", choose_of_long_run, 200},
                          {"strewn", choose_strewn, 1000},
                          {"strewn-far", choose_strewn, 0}};

static void
add(td_id_rows *ids, GHashTable *wanted, uint32_t id) {
  if (id == UINT32_MAX) return;
  gpointer known;
  uint32_t row = g_hash_table_size(wanted);
  if (g_hash_table_lookup_extended(wanted, GUINT_TO_POINTER(id), NULL, &known))
    row = GPOINTER_TO_UINT(known);
  g_hash_table_insert(wanted, GUINT_TO_POINTER(id), GUINT_TO_POINTER(row));
  g_assert_cmpuint(td_id_rows_add(ids, id), ==, row);
  g_assert_cmpuint(ids->n, ==, g_hash_table_size(wanted));
}

static void
assert_absent(const td_id_rows *ids, GHashTable *wanted, uint32_t id) {
  if (g_hash_table_contains(wanted, GUINT_TO_POINTER(id))) return;
  g_assert_cmpuint(td_id_rows_find(ids, id), ==, TD_NO_ROW);
}

static void
assert_near(const td_id_rows *ids, uint32_t id, uint32_t near) {
  if (id < near) g_assert_true(td_id_rows_has_near(ids, id));
  if (id > near + TD_IDS_PER_PAGE) g_assert_false(td_id_rows_has_near(ids, id));
}

/* Ids and rows that belong together; the neighbours of an id have none, unless they were added. */
static void
assert_found(const td_id_rows *ids, GHashTable *wanted, const uint32_t *order, uint32_t near) {
  GHashTableIter iter;
  gpointer id, row;
  g_hash_table_iter_init(&iter, wanted);
  while (g_hash_table_iter_next(&iter, &id, &row)) {
    uint32_t found = td_id_rows_find(ids, GPOINTER_TO_UINT(id));
    g_assert_cmpuint(found, <, ids->n);
    g_assert_cmpuint(order ? order[found] : found, ==, GPOINTER_TO_UINT(row));
    if (near) assert_near(ids, GPOINTER_TO_UINT(id), near);
    assert_absent(ids, wanted, GPOINTER_TO_UINT(id) + 1);
    assert_absent(ids, wanted, GPOINTER_TO_UINT(id) - 1);
  }
}

static int
compare_ids(const void *a, const void *b) {
  uint32_t left = GPOINTER_TO_UINT(*(gpointer const *)a);
  uint32_t right = GPOINTER_TO_UINT(*(gpointer const *)b);
  return (left > right) - (left < right);
}

static void
assert_in_order(const td_id_rows *ids, GHashTable *wanted) {
  guint n;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array(wanted, &n);
  qsort(keys, n, sizeof *keys, compare_ids);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint(td_id_rows_find(ids, GPOINTER_TO_UINT(keys[i])), ==, i);
}

static void
test_ids(gconstpointer data) {
  const Ids *of = data;
  GRand *random = g_rand_new_with_seed(5);
  GHashTable *wanted = g_hash_table_new(NULL, NULL);
  td_id_rows ids;
  uint32_t *order;
  g_assert_true(td_id_rows_init(&ids, of->near));
  for (uint32_t i = 0; i < 8000; i++)
    add(&ids, wanted, of->choose(random, i));
  assert_found(&ids, wanted, NULL, of->near);
  g_assert_true(td_id_rows_sort(&ids, &order));
  assert_found(&ids, wanted, order, 0);
  assert_in_order(&ids, wanted);
  if (of->choose == choose_in_order) g_assert_null(order);
  free(order);
  td_id_rows_fini(&ids);
  g_hash_table_unref(wanted);
  g_rand_free(random);
}

static void
test_none(void) {
  td_id_rows ids;
  uint32_t *order;
  g_assert_true(td_id_rows_init(&ids, 100));
  g_assert_cmpuint(td_id_rows_find(&ids, 0), ==, TD_NO_ROW);
  g_assert_true(td_id_rows_sort(&ids, &order));
  g_assert_cmpuint(td_id_rows_find(&ids, 0), ==, TD_NO_ROW);
  g_assert_null(order);
  td_id_rows_fini(&ids);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
    g_autofree char *path = g_strdup_printf("/base/id-rows/%s", all[i].name);
    g_test_add_data_func(path, &all[i], test_ids);
  }
  g_test_add_func("/base/id-rows/none", test_none);
  return g_test_run();
}
