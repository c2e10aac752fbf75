/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/id_rows.h"

#include "engine/base/alloc.h"

#include <string.h>

#define PAGES_AT_FIRST 64u

bool
td_id_rows_init(td_id_rows *ids, uint32_t near) {
  uint32_t n_near = near / TD_IDS_PER_PAGE + 1;
  *ids = (td_id_rows){
      .near = td_try_alloc(n_near, sizeof *ids->near), .n_near = n_near, .near_first = n_near};
  return ids->near != NULL;
}

void
td_id_rows_fini(td_id_rows *ids) {
  free(ids->near);
  free(ids->pages);
  td_number_map_fini(&ids->far);
  *ids = (td_id_rows){0};
}

/* 1 + the place of the page, or 0. */
static uint64_t
find_page(const td_id_rows *ids, uint32_t page) {
  if (page < ids->n_near) return ids->near[page];
  const uint64_t *place = td_number_map_find(&ids->far, page);
  return place ? *place : 0;
}

uint32_t
td_id_rows_search(const td_id_rows *ids, uint32_t id) {
  uint64_t place = find_page(ids, id / TD_IDS_PER_PAGE);
  return place ? ids->pages[place - 1].rows[id % TD_IDS_PER_PAGE] - 1 : TD_NO_ROW;
}

static void
add_near(td_id_rows *ids, uint32_t page) {
  ids->near[page] = ids->n_pages;
  ids->near_first = TD_MIN(ids->near_first, page);
  ids->near_end = TD_MAX(ids->near_end, page + 1);
}

static bool
add_page(td_id_rows *ids, uint32_t page) {
  if (ids->n_pages == ids->capacity) {
    uint32_t capacity = ids->capacity ? 2 * ids->capacity : PAGES_AT_FIRST;
    td_id_page *larger = realloc(ids->pages, (size_t)capacity * sizeof *larger);
    if (!larger) return false;
    ids->pages = larger;
    ids->capacity = capacity;
  }
  ids->pages[ids->n_pages++] = (td_id_page){0};
  if (page < ids->n_near)
    add_near(ids, page);
  else
    *td_number_map_put(&ids->far, page) = ids->n_pages;
  return true;
}

static void
follow_run(td_id_rows *ids, uint32_t id, uint32_t row) {
  bool goes_on = id - ids->run_first == ids->n_run && row - id == ids->run_shift;
  if (!goes_on || id < ids->run_first) {
    ids->run_first = id;
    ids->run_shift = row - id;
    ids->n_run = 0;
  }
  ids->n_run++;
}

uint32_t
td_id_rows_add(td_id_rows *ids, uint32_t id) {
  uint32_t known = td_id_rows_find(ids, id), page = id / TD_IDS_PER_PAGE;
  if (known != TD_NO_ROW) return known;
  uint64_t place = find_page(ids, page);
  if (!place && !add_page(ids, page)) return TD_NO_ROW;
  if (!place) place = ids->n_pages;
  ids->pages[place - 1].rows[id % TD_IDS_PER_PAGE] = ids->n + 1;
  follow_run(ids, id, ids->n);
  return ids->n++;
}

static int
compare_pages(const void *a, const void *b) {
  const td_number_entry *left = a, *right = b;
  return (left->key > right->key) - (left->key < right->key);
}

/* What the renumbering has come to. */
typedef struct renumbering {
  td_id_rows *ids;
  uint32_t *order;
  uint32_t n;                /* rows given out */
  uint32_t run_first, n_run; /* the run that goes on */
  bool changed;
} renumbering;

static void
renumber_id(renumbering *self, uint32_t id, uint32_t *row) {
  td_id_rows *ids = self->ids;
  self->changed |= *row - 1 != self->n;
  self->order[self->n] = *row - 1;
  if (self->n_run == 0 || id - self->run_first != self->n_run) {
    self->run_first = id;
    self->n_run = 0;
  }
  *row = ++self->n;
  if (++self->n_run <= ids->n_run) return;
  ids->run_first = self->run_first;
  ids->run_shift = *row - 1 - id;
  ids->n_run = self->n_run;
}

static void
renumber_page(renumbering *self, uint32_t page, uint64_t place) {
  for (uint32_t i = 0; place && i < TD_IDS_PER_PAGE; i++) {
    uint32_t *row = &self->ids->pages[place - 1].rows[i];
    if (*row) renumber_id(self, page * TD_IDS_PER_PAGE + i, row);
  }
}

/* One run that has all ids needs no pages. */
static void
drop_pages(td_id_rows *ids) {
  td_id_rows kept = {ids->n, ids->run_first, ids->n_run, ids->run_shift};
  td_id_rows_fini(ids);
  *ids = kept;
}

bool
td_id_rows_sort(td_id_rows *ids, uint32_t **order) {
  renumbering self = {.ids = ids, .order = td_try_alloc(ids->n, sizeof *self.order)};
  uint32_t n_far = ids->far.n;
  td_number_entry *far = td_try_alloc(n_far, sizeof *far);
  bool has_memory = self.order && far;
  if (has_memory) {
    if (n_far) memcpy(far, ids->far.entries, n_far * sizeof *far);
    qsort(far, n_far, sizeof *far, compare_pages);
    ids->n_run = 0;
    for (uint32_t page = ids->near_first; page < ids->near_end; page++)
      renumber_page(&self, page, ids->near[page]);
    for (uint32_t i = 0; i < n_far; i++)
      renumber_page(&self, (uint32_t)far[i].key, far[i].value);
    if (ids->n_run == ids->n) drop_pages(ids);
  }
  *order = has_memory && self.changed ? self.order : NULL;
  if (!*order) free(self.order);
  free(far);
  return has_memory;
}
