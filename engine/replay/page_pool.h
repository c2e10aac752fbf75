/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pool of pages for the states of one replay. Pages have numbers, from 1. Memory is only reserved
 * until it is touched. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/state.h"

typedef struct td_page_pool {
  td_state_page **blocks; /* (owned, as the blocks) */
  uint32_t n_blocks, blocks_capacity;
  uint32_t n_taken;     /* ever */
  uint32_t *free_pages; /* (owned) */
  uint32_t n_free, free_capacity;
} td_page_pool;

/* td_page_pool_promise makes sure that the next n pages can be taken. False without memory. */
bool td_page_pool_promise(td_page_pool *pool, uint32_t n);
void td_page_pool_fini(td_page_pool *pool);

/* td_page_pool_take returns the number of a page that was promised; its bytes are undefined.
 * td_page_pool_give takes the page back. */
uint32_t td_page_pool_take(td_page_pool *pool);
void td_page_pool_give(td_page_pool *pool, uint32_t page);

td_state_page *td_page_pool_get(const td_page_pool *pool, uint32_t page);

/* td_page_pool_in_use returns how many pages are taken now. */
uint32_t td_page_pool_in_use(const td_page_pool *pool);
