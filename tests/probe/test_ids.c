/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ids of addresses: the table says what a plain list says, stays quick where addresses drift, and
 * mistakes none while others change it. */
#include "engine/probe/ids.h"

#include "engine/events/event.h"

#include <glib.h>
#include <time.h>

#define N_ADDRESSES 20000
#define N_NODES 8200

/* The thread sanitizer sees a race in the first rounds, and takes fifty times as long for each. */
#ifdef __SANITIZE_THREAD__
#define N_READ_ROUNDS 20
#define N_CLEAR_ROUNDS 14
#else
#define N_READ_ROUNDS 200
#define N_CLEAR_ROUNDS 60
#endif

static const void *
address_of(uint32_t index) {
  return (const void *)(uintptr_t)(0x560000000000u + (uint64_t)index * 16);
}

static void
assert_all(td_ids *ids, const uint32_t *model) {
  for (uint32_t i = 0; i < N_ADDRESSES; i++)
    g_assert_cmpuint(td_ids_find(ids, address_of(i)), ==, model[i]);
}

static void
test_like_a_list(void) {
  g_autofree uint32_t *model = g_new(uint32_t, N_ADDRESSES);
  td_ids *ids = td_ids_new();
  uint32_t n_alive = 0;
  memset(model, 0xff, N_ADDRESSES * sizeof *model);
  for (uint32_t round = 0; round < 300000; round++) {
    uint32_t index = (uint32_t)g_test_rand_int_range(0, N_ADDRESSES);
    uint32_t id = g_test_rand_int_range(0, 3) ? TD_NONE : round;
    g_assert_cmpuint(td_ids_set(ids, address_of(index), id), ==, model[index]);
    n_alive += (id != TD_NONE) - (model[index] != TD_NONE);
    model[index] = id;
    g_assert_cmpuint(td_ids_n_alive(ids), ==, n_alive);
    if (round % 20000 == 0) assert_all(ids, model);
  }
  assert_all(ids, model);
  td_ids_clear(ids);
  g_assert_cmpuint(td_ids_n_alive(ids), ==, 0);
  g_assert_cmpuint(td_ids_find(ids, address_of(0)), ==, TD_NONE);
}

/* A node of a training step. In each step some nodes live elsewhere than in the step before. */
static const void *
node_of(uint32_t i, uint32_t shift) {
  return address_of(i * 20 + (i % 8 == 0 ? shift : 0));
}

/* Of this thread: that other programs run beside the test changes nothing. */
static double
processor_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static double
step(td_ids *ids, uint32_t shift) {
  double begin = processor_us();
  for (uint32_t i = 0; i < N_NODES; i++)
    td_ids_set(ids, node_of(i, shift), i);
  for (uint32_t i = 0; i < N_NODES; i++)
    g_assert_cmpuint(td_ids_find(ids, node_of(i, shift)), ==, i);
  for (uint32_t i = 0; i < N_NODES; i++)
    td_ids_set(ids, node_of(i, shift), TD_NONE);
  return processor_us() - begin;
}

static double
least_of_steps(td_ids *ids, uint32_t shift) {
  double best = G_MAXDOUBLE;
  for (uint32_t i = 0; i < 5; i++)
    best = MIN(best, step(ids, shift));
  return best;
}

static void
test_quick_where_addresses_drift(void) {
  td_ids *ids = td_ids_new();
  double at_first = least_of_steps(ids, 0), worst = 0;
  for (uint32_t shift = 1; shift < 20; shift++)
    worst = MAX(worst, least_of_steps(ids, shift));
  g_test_message("%.0f us at first, %.0f us at worst", at_first, worst);
  g_assert_cmpfloat(worst, <, 8 * at_first);
}

static int stopping;

/* An address has its own index as id, or none. */
static gpointer
write_cb(gpointer data) {
  td_ids *ids = data;
  GRand *random = g_rand_new_with_seed(7);
  while (!g_atomic_int_get(&stopping)) {
    uint32_t index = 1000 + (uint32_t)g_rand_int_range(random, 0, N_ADDRESSES - 1000);
    td_ids_set(ids, address_of(index), g_rand_boolean(random) ? index : TD_NONE);
  }
  g_rand_free(random);
  return NULL;
}

static void
test_readers_beside_a_writer(void) {
  td_ids *ids = td_ids_new();
  for (uint32_t i = 0; i < 1000; i++)
    td_ids_set(ids, address_of(i), i);
  GThread *writer = g_thread_new("writer", write_cb, ids);
  for (uint32_t round = 0; round < N_READ_ROUNDS; round++)
    for (uint32_t i = 0; i < N_ADDRESSES; i++) {
      uint32_t id = td_ids_find(ids, address_of(i));
      if (i < 1000 || id != TD_NONE) g_assert_cmpuint(id, ==, i);
    }
  g_atomic_int_set(&stopping, 1);
  g_thread_join(writer);
}

static gpointer
read_cb(gpointer ids) {
  while (!g_atomic_int_get(&stopping))
    for (uint32_t i = 0; i < N_ADDRESSES; i++) {
      uint32_t id = td_ids_find(ids, address_of(i));
      if (id != TD_NONE) g_assert_cmpuint(id, ==, i);
    }
  return NULL;
}

/* As nodes of the last tape die while the next one begins. */
static void
test_readers_of_a_table_that_is_cleared(void) {
  td_ids *ids = td_ids_new();
  g_atomic_int_set(&stopping, 0);
  GThread *reader = g_thread_new("reader", read_cb, ids);
  for (uint32_t round = 0; round < N_CLEAR_ROUNDS; round++) {
    for (uint32_t i = 0; i < N_ADDRESSES; i += 1 + round % 7)
      td_ids_set(ids, address_of(i), i);
    td_ids_clear(ids);
    g_assert_cmpuint(td_ids_n_alive(ids), ==, 0);
    g_assert_cmpuint(td_ids_find(ids, address_of(0)), ==, TD_NONE);
  }
  g_atomic_int_set(&stopping, 1);
  g_thread_join(reader);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/ids/like_a_list", test_like_a_list);
  g_test_add_func("/engine/ids/quick_where_addresses_drift", test_quick_where_addresses_drift);
  g_test_add_func("/engine/ids/readers_beside_a_writer", test_readers_beside_a_writer);
  g_test_add_func("/engine/ids/cleared", test_readers_of_a_table_that_is_cleared);
  return g_test_run();
}
