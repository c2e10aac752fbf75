/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The first items of a long list in some order, found without keeping the others. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, but for the first three. */
typedef struct td_top_list {
  size_t item_size;
  uint32_t limit;                               /* so many items are kept, at least 1 */
  int (*compare)(const void *a, const void *b); /* never 0 for two items */
  void *items;                                  /* (owned) [n] */
  size_t n, capacity;
  uint64_t n_added;
} td_top_list;

/* td_top_list_add copies an item into the list, unless `limit` others come before it. */
void td_top_list_add(td_top_list *list, const void *item);

/* td_top_list_sort brings the items in order, and leaves `limit` of them at most. */
void td_top_list_sort(td_top_list *list);
void td_top_list_fini(td_top_list *list);
