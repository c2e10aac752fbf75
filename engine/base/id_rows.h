/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Id rows: which row of a table belongs to an id. Ids may lie anywhere in 32 bits. The cost follows
 * the number of ids that have a row, not the greatest id. An id far from all others costs about 100
 * bytes, and one of many in a row about 4. Most ids of a tape follow one another. So a lookup first
 * tries the longest run of them, which needs no table. Zero-initialise. One thread may add; any
 * number may find. */
#pragma once

#include "engine/base/number_map.h"

#include <stdbool.h>

#define TD_IDS_PER_PAGE 16u
#define TD_NO_ROW UINT32_MAX

/* The rows of 16 ids: 1 + the row, or 0. */
typedef struct td_id_page {
  uint32_t rows[TD_IDS_PER_PAGE];
} td_id_page;

typedef struct td_id_rows {
  uint32_t n;                /* rows */
  uint32_t run_first, n_run; /* ids in a row that have rows in a row */
  uint32_t run_shift;        /* from the id to the row, for these */
  uint32_t *near;            /* (owned) [n_near] by page of ids: 1 + its place, or 0 */
  uint32_t n_near;
  uint32_t near_first, near_end; /* no other pages of `near` have a place */
  td_number_map far;             /* the same, for pages of greater ids */
  td_id_page *pages;             /* (owned) */
  uint32_t n_pages, capacity;
} td_id_rows;

/* td_id_rows_init makes ids below `near` quick to find. This costs 4 bytes for 16 ids, once they
 * are touched. False without memory. */
bool td_id_rows_init(td_id_rows *ids, uint32_t near);
void td_id_rows_fini(td_id_rows *ids);

/* td_id_rows_add gives an id the next row, ids->n, if the id has none. It returns the id's row, or
 * TD_NO_ROW without memory. */
uint32_t td_id_rows_add(td_id_rows *ids, uint32_t id);

/* td_id_rows_sort gives the rows out anew, in the order of the ids. order[row] is the row that the
 * id had before. The caller frees it; NULL if no row has changed. No id may be added any more.
 * False without memory. */
bool td_id_rows_sort(td_id_rows *ids, uint32_t **order);

/* td_id_rows_search is td_id_rows_find's slow path. */
uint32_t td_id_rows_search(const td_id_rows *ids, uint32_t id) __attribute__((pure));

/* td_id_rows_has_near tells quickly whether an id below `near` has a row, while ids are added and
 * the runs are still short. False if the id is not near. */
static inline bool
td_id_rows_has_near(const td_id_rows *ids, uint32_t id) {
  uint32_t page = id / TD_IDS_PER_PAGE, place = page < ids->n_near ? ids->near[page] : 0;
  return place && ids->pages[place - 1].rows[id % TD_IDS_PER_PAGE];
}

/* td_id_rows_find returns the row of an id, or TD_NO_ROW. */
static inline uint32_t
td_id_rows_find(const td_id_rows *ids, uint32_t id) {
  bool in_run = id - ids->run_first < ids->n_run;
  return __builtin_expect(in_run, 1) ? id + ids->run_shift : td_id_rows_search(ids, id);
}
