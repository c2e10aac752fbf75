/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/lock_waits.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/report_keys.h"

#include <string.h>

/* The texts are numbers of the table of texts. */
typedef struct td_lock_wait {
  bool is_on;
  uint32_t row, waiter, holder, node, line;
} td_lock_wait;

typedef struct td_lock_row {
  uint32_t name, kind, object;
} td_lock_row;

typedef struct td_blame_row {
  td_lock_wait wait;
  uint64_t n, ns;
} td_blame_row;

uint32_t
td_text_keep(td_text_table *table, char *text) {
  if (!text) return 0;
  uint32_t number = td_text_table_put(table, text, strlen(text));
  free(text);
  return number;
}

/* ---- rows ---- */

static uint32_t
row_of(td_lock_waits *self, const td_catalog *catalog, uint32_t kind, uint32_t object) {
  uint32_t name = td_text_keep(self->texts, td_report_lock_name(catalog, kind, object));
  uint64_t *row = td_number_map_put(&self->row_of_name, name);
  if (*row) return (uint32_t)*row - 1;
  TD_GROW(self->rows, self->n_rows, self->rows_capacity);
  self->rows[self->n_rows] = (td_lock_row){name, kind, object};
  *row = ++self->n_rows;
  return (uint32_t)*row - 1;
}

static td_blame_row *
blame_of(td_lock_waits *self, const td_lock_wait *wait) {
  char *key =
      td_format("%u %u %u %u %u", wait->row, wait->waiter, wait->holder, wait->node, wait->line);
  uint32_t number = td_text_keep(&self->blame_keys, key);
  if (number > self->n_blames) {
    TD_GROW(self->blames, self->n_blames, self->blames_capacity);
    self->blames[self->n_blames++] = (td_blame_row){.wait = *wait};
  }
  return &self->blames[number - 1];
}

/* ---- events ---- */

static td_lock_wait *
wait_of(td_lock_waits *self, uint32_t thread) {
  while (thread >= self->n_threads) {
    uint32_t n = TD_MAX(2 * self->n_threads, 8u);
    self->threads = td_realloc(self->threads, n, sizeof *self->threads);
    memset(self->threads + self->n_threads, 0, (n - self->n_threads) * sizeof *self->threads);
    self->n_threads = n;
  }
  return &self->threads[thread];
}

void
td_lock_waits_begin(td_lock_waits *self, const td_catalog *catalog,
                    const td_event_lock_wait *event) {
  uint32_t thread = event->event.thread;
  *wait_of(self, thread) =
      (td_lock_wait){.is_on = true,
                     .row = row_of(self, catalog, event->lock, event->object),
                     .waiter = td_text_keep(self->texts, td_report_thread_name(catalog, thread))};
}

void
td_lock_waits_hold(td_lock_waits *self, const td_catalog *catalog, const td_event_lock_held *event,
                   uint32_t node) {
  td_lock_wait *wait = wait_of(self, event->event.thread);
  if (!wait->is_on) return;
  wait->holder = td_text_keep(self->texts, td_report_thread_name(catalog, event->holder));
  if (node == TD_NONE) return;
  wait->node = td_text_keep(self->texts, td_report_node_name(catalog, node));
  wait->line = td_text_keep(self->texts, td_report_user_line(catalog, node));
}

void
td_lock_waits_end(td_lock_waits *self, const td_event_lock_acquired *event) {
  td_lock_wait *wait = wait_of(self, event->event.thread);
  if (!wait->is_on) return;
  td_blame_row *blame = blame_of(self, wait);
  blame->n++;
  blame->ns += event->waited;
  td_samples_add(&self->waited, wait->row, event->waited);
  wait->is_on = false;
}

/* ---- the end ---- */

static int
compare_locks(const void *a, const void *b) {
  const td_contended_lock *left = a, *right = b;
  if (left->waits.sum != right->waits.sum) return left->waits.sum > right->waits.sum ? -1 : 1;
  return strcmp(left->name, right->name);
}

static int
compare_blames(const void *a, const void *b) {
  const td_lock_blame *left = a, *right = b;
  if (left->lock != right->lock) return left->lock < right->lock ? -1 : 1;
  if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
  int order = strcmp(left->waiter, right->waiter);
  return order ? order : strcmp(left->holder, right->holder);
}

static void
list_locks(td_lock_waits *self, td_lock_list *result, uint32_t *ranks) {
  size_t at = 0;
  td_samples_sort(&self->waited);
  for (uint32_t i = 0; i < self->n_rows; i++)
    result->locks[i] =
        (td_contended_lock){.name = td_text_table_get(self->texts, self->rows[i].name),
                            .kind = (td_lock_kind)self->rows[i].kind,
                            .object = self->rows[i].object,
                            .waits = td_samples_take(&self->waited, &at, i),
                            .first_blame = i};
  qsort(result->locks, self->n_rows, sizeof *result->locks, compare_locks);
  for (uint32_t i = 0; i < self->n_rows; i++)
    ranks[result->locks[i].first_blame] = i;
}

static void
list_blames(td_lock_waits *self, td_lock_list *result, const uint32_t *ranks) {
  for (uint32_t i = 0; i < self->n_blames; i++) {
    const td_lock_wait *wait = &self->blames[i].wait;
    result->blames[i] = (td_lock_blame){.lock = ranks[wait->row],
                                        .waiter = td_text_table_get(self->texts, wait->waiter),
                                        .holder = td_text_table_get(self->texts, wait->holder),
                                        .node = td_text_table_get(self->texts, wait->node),
                                        .line = td_text_table_get(self->texts, wait->line),
                                        .n = self->blames[i].n,
                                        .ns = self->blames[i].ns};
  }
  qsort(result->blames, self->n_blames, sizeof *result->blames, compare_blames);
  for (uint32_t i = self->n_blames; i-- > 0;) {
    td_contended_lock *lock = &result->locks[result->blames[i].lock];
    lock->first_blame = i;
    lock->n_blames++;
  }
}

void
td_lock_waits_list(td_lock_waits *self, td_lock_list *result) {
  if (!self->n_blames) return; /* no wait ended */
  result->locks = td_alloc(self->n_rows, sizeof *result->locks);
  result->blames = td_alloc(self->n_blames, sizeof *result->blames);
  uint32_t *ranks = td_alloc(self->n_rows, sizeof *ranks);
  list_locks(self, result, ranks);
  list_blames(self, result, ranks);
  result->n_locks = self->n_rows;
  result->n_blames = self->n_blames;
  free(ranks);
}

void
td_lock_list_fini(td_lock_list *list) {
  free(list->locks);
  free(list->blames);
  *list = (td_lock_list){0};
}

void
td_lock_waits_fini(td_lock_waits *self) {
  free(self->threads);
  free(self->rows);
  free(self->blames);
  td_number_map_fini(&self->row_of_name);
  td_text_table_fini(&self->blame_keys);
  td_samples_fini(&self->waited);
}
