/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/lock_waits.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/report_keys.h"

#include <string.h>

typedef struct td_lock_row {
  uint32_t name, kind, object;
} td_lock_row;

/* The texts are numbers of the table of texts. */
typedef struct td_blame_row {
  uint32_t row, waiter, holder, node, line;
  td_lock_blame sums; /* without texts */
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

static td_lock_blame *
blame_of(td_lock_waits *self, const td_blame_row *row) {
  char *key = td_format("%u %u %u %u %u", row->row, row->waiter, row->holder, row->node, row->line);
  uint32_t number = td_text_keep(&self->blame_keys, key);
  if (number > self->n_blames) {
    TD_GROW(self->blames, self->n_blames, self->blames_capacity);
    self->blames[self->n_blames++] = *row;
  }
  return &self->blames[number - 1].sums;
}

static void
add_stretch(td_lock_waits *self, const td_catalog *catalog, td_blame_row row,
            const td_held_wait *wait, const td_wait_stretch *stretch) {
  if (stretch->holder != TD_NONE)
    row.holder = td_text_keep(self->texts, td_report_thread_name(catalog, stretch->holder));
  if (stretch->node != TD_NONE) {
    row.node = td_text_keep(self->texts, td_report_node_name(catalog, stretch->node));
    row.line = td_text_keep(self->texts, td_report_user_line(catalog, stretch->node));
  }
  td_lock_blame *blame = blame_of(self, &row);
  blame->n++;
  blame->ns += stretch->held_ns + stretch->late_ns;
  blame->held_ns += stretch->held_ns;
  blame->late_ns += stretch->late_ns;
  blame->is_bound |= stretch->is_bound;
  if (blame->n > 1 && wait->ns <= blame->longest_ns) return;
  blame->longest_ns = wait->ns;
  blame->longest = (td_wait_place){wait->thread, wait->begin_seq, wait->begin_ns, wait->end_ns};
}

void
td_lock_waits_add(td_lock_waits *self, const td_catalog *catalog, const td_held_wait *wait) {
  const td_blame_row row = {
      .row = row_of(self, catalog, wait->lock, wait->object),
      .waiter = td_text_keep(self->texts, td_report_thread_name(catalog, wait->thread))};
  for (uint32_t i = 0; i < wait->n_stretches; i++)
    add_stretch(self, catalog, row, wait, &wait->stretches[i]);
  td_samples_add(&self->waited, row.row, wait->ns);
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
    const td_blame_row *row = &self->blames[i];
    td_lock_blame *blame = &result->blames[i];
    *blame = row->sums;
    blame->lock = ranks[row->row];
    blame->waiter = td_text_table_get(self->texts, row->waiter);
    blame->holder = td_text_table_get(self->texts, row->holder);
    blame->node = td_text_table_get(self->texts, row->node);
    blame->line = td_text_table_get(self->texts, row->line);
  }
  qsort(result->blames, self->n_blames, sizeof *result->blames, compare_blames);
  for (uint32_t i = self->n_blames; i-- > 0;) {
    td_contended_lock *lock = &result->locks[result->blames[i].lock];
    lock->first_blame = i;
    lock->n_blames++;
    lock->held_ns += result->blames[i].held_ns;
    lock->late_ns += result->blames[i].late_ns;
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
  free(self->rows);
  free(self->blames);
  td_number_map_fini(&self->row_of_name);
  td_text_table_fini(&self->blame_keys);
  td_samples_fini(&self->waited);
}
