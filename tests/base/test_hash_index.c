/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The hash index: it finds what was put, and nothing else, however many items there are and however
 * badly their keys are spread. GLib's hash table is the other opinion. */
#include "engine/base/hash.h"
#include "engine/base/hash_index.h"

#include <glib.h>

typedef struct items {
  uint32_t *keys; /* (owned) */
  uint32_t n, capacity;
  td_hash_index index;
} items;

static uint64_t n_looks; /* at keys */

static uint32_t
key_of(const void *context, uint32_t number) {
  n_looks++;
  return ((const items *)context)->keys[number - 1];
}

/* All keys that are a multiple of 1024 want the same place. */
static uint32_t
worst_hash(uint32_t key) {
  return key & 1023;
}

TD_HASH_INDEX_DEFINE(mixed, uint32_t, td_hash_number, key_of, TD_HASH_INDEX_EQUAL)
TD_HASH_INDEX_DEFINE(crowded, uint32_t, worst_hash, key_of, TD_HASH_INDEX_EQUAL)

typedef uint32_t put(td_hash_index *index, uint32_t n, uint32_t key, const void *context);
typedef uint32_t find(const td_hash_index *index, uint32_t key, const void *context);

static void
append(items *self, uint32_t key) {
  TD_GROW(self->keys, self->n, self->capacity);
  self->keys[self->n++] = key;
}

static void
items_fini(items *self) {
  td_hash_index_fini(&self->index);
  free(self->keys);
}

static void
compare_with_glib(put *put, find *find, uint32_t n_keys, uint32_t step) {
  GHashTable *expected = g_hash_table_new(NULL, NULL);
  GRand *random = g_rand_new_with_seed(7);
  items self = {0};
  for (uint32_t i = 0; i < 4 * n_keys; i++) {
    uint32_t key = step * (uint32_t)g_rand_int_range(random, 0, (gint32)n_keys);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(expected, GUINT_TO_POINTER(key)));
    g_assert_cmpuint(find(&self.index, key, &self), ==, known);
    g_assert_cmpuint(put(&self.index, self.n, key, &self), ==, known ? known : self.n + 1);
    if (known) continue;
    append(&self, key);
    g_hash_table_insert(expected, GUINT_TO_POINTER(key), GUINT_TO_POINTER(self.n));
  }
  g_assert_cmpuint(self.n, ==, g_hash_table_size(expected));
  g_assert_cmpuint(self.index.n_slots, >=, 2 * self.n);
  items_fini(&self);
  g_rand_free(random);
  g_hash_table_unref(expected);
}

static void
test_any_keys(void) {
  compare_with_glib(mixed_put, mixed_find, 20000, 1);
}

static void
test_colliding_keys(void) {
  compare_with_glib(crowded_put, crowded_find, 500, 1024);
}

/* Ids of a tape may be two long runs that are a table's size apart. */
static void
test_two_runs(void) {
  const uint32_t n_run = 32768, apart = 1u << 19;
  items self = {0};
  n_looks = 0;
  for (uint32_t i = 0; i < 2 * n_run; i++) {
    uint32_t key = i < n_run ? i : apart + i - n_run;
    g_assert_cmpuint(mixed_put(&self.index, self.n, key, &self), ==, self.n + 1);
    append(&self, key);
  }
  g_assert_cmpuint(n_looks, <, 8 * 2 * n_run);
  items_fini(&self);
}

static void
test_empty(void) {
  items self = {0};
  g_assert_cmpuint(mixed_find(&self.index, 5, &self), ==, 0);
  items_fini(&self);
}

/* A search that comes to the end of the slots goes on at their beginning. */
static void
test_wraps_around(void) {
  items self = {0};
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t key = (i + 1) * 1024 - 1; /* all want the last place */
    g_assert_cmpuint(crowded_put(&self.index, self.n, key, &self), ==, i + 1);
    append(&self, key);
  }
  g_assert_cmpuint(self.index.slots[self.index.n_slots - 1], ==, 1);
  g_assert_cmpuint(self.index.slots[0], ==, 2);
  g_assert_cmpuint(self.index.slots[1], ==, 3);
  g_assert_cmpuint(crowded_find(&self.index, 3 * 1024 - 1, &self), ==, 3);
  g_assert_cmpuint(crowded_find(&self.index, 4 * 1024 - 1, &self), ==, 0);
  items_fini(&self);
}

/* The checksums of tapes are such hashes: the numbers are those of FNV's reference. */
static void
test_hash_of_bytes(void) {
  g_assert_cmphex(td_hash_bytes(TD_HASH_SEED, "", 0), ==, 0xcbf29ce484222325u);
  g_assert_cmphex(td_hash_bytes(TD_HASH_SEED, "a", 1), ==, 0xaf63dc4c8601ec8cu);
  g_assert_cmphex(td_hash_bytes(TD_HASH_SEED, "foobar", 6), ==, 0x85944171f73967e8u);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/hash_index/any_keys", test_any_keys);
  g_test_add_func("/engine/hash_index/colliding_keys", test_colliding_keys);
  g_test_add_func("/engine/hash_index/two_runs", test_two_runs);
  g_test_add_func("/engine/hash_index/empty", test_empty);
  g_test_add_func("/engine/hash_index/wraps_around", test_wraps_around);
  g_test_add_func("/engine/hash/bytes", test_hash_of_bytes);
  return g_test_run();
}
