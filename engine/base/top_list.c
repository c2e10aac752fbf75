/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/top_list.h"

#include "engine/base/alloc.h"

#include <stdbool.h>
#include <string.h>

static char *
item_at(const td_top_list *list, size_t i) {
  return (char *)list->items + i * list->item_size;
}

static void
grow(td_top_list *list) {
  if (list->n < list->capacity) return;
  list->capacity = list->capacity ? 2 * list->capacity : 16;
  list->items = td_realloc(list->items, list->capacity, list->item_size);
}

/* Twice as many items as wanted are gathered, then the later half goes. So the last of the wanted
 * ones is known from then on, and most items need one comparison. */
void
td_top_list_add(td_top_list *list, const void *item) {
  bool is_full = list->n_added++ >= 2 * (uint64_t)list->limit;
  if (is_full && list->compare(item, item_at(list, list->limit - 1)) > 0) return;
  grow(list);
  memcpy(item_at(list, list->n++), item, list->item_size);
  if (list->n == 2 * (uint64_t)list->limit) td_top_list_sort(list);
}

void
td_top_list_sort(td_top_list *list) {
  if (list->n) qsort(list->items, list->n, list->item_size, list->compare);
  list->n = TD_MIN(list->n, list->limit);
}

void
td_top_list_fini(td_top_list *list) {
  free(list->items);
  list->items = NULL;
  list->n = list->capacity = 0;
}
