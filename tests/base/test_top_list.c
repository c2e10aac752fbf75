/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/top_list.h"

#include <glib.h>

static int
compare_numbers(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static uint64_t
falling(uint64_t i) {
  return 1000 - i;
}

static uint64_t
rising(uint64_t i) {
  return i + 1;
}

/* 1 to 1000, in an order like chance. */
static uint64_t
mixed(uint64_t i) {
  return i * 379 % 1000 + 1;
}

/* The least of the numbers 1 to 1000 are kept, in whatever order they come. */
static void
check(uint64_t (*number)(uint64_t), uint32_t limit) {
  td_top_list list = {sizeof(uint64_t), limit, compare_numbers};
  for (uint64_t i = 0; i < 1000; i++) {
    uint64_t item = number(i);
    td_top_list_add(&list, &item);
    g_assert_cmpuint(list.n, <=, 2 * (uint64_t)limit);
  }
  td_top_list_sort(&list);
  g_assert_cmpuint(list.n_added, ==, 1000);
  g_assert_cmpuint(list.n, ==, MIN(limit, 1000));
  for (size_t i = 0; i < list.n; i++)
    g_assert_cmpuint(((uint64_t *)list.items)[i], ==, i + 1);
  td_top_list_fini(&list);
}

static void
test_least(void) {
  const uint32_t limits[] = {1, 2, 10, 499, 500, 501, 999, 1000, 1001, UINT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
    check(falling, limits[i]);
    check(rising, limits[i]);
    check(mixed, limits[i]);
  }
}

static void
test_empty(void) {
  td_top_list list = {sizeof(uint64_t), 3, compare_numbers};
  td_top_list_sort(&list);
  g_assert_cmpuint(list.n, ==, 0);
  td_top_list_fini(&list);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/top_list/least", test_least);
  g_test_add_func("/base/top_list/empty", test_empty);
  return g_test_run();
}
