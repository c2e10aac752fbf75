/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/page_pool.h"

#include "engine/base/alloc.h"

#include <sys/mman.h>

#define BLOCK_PAGES 1024u
#define BLOCK_BYTES (BLOCK_PAGES * sizeof(td_state_page))

_Static_assert(sizeof(td_state_page) == TD_STATE_PAGE_BYTES, "a page has no padding");

static td_state_page *
reserve_block(void) {
  void *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? NULL : block;
}

bool
td_page_pool_promise(td_page_pool *pool, uint32_t n) {
  while ((uint64_t)pool->n_blocks * BLOCK_PAGES - pool->n_taken + pool->n_free < n) {
    td_state_page *block = reserve_block();
    if (!block) return false;
    TD_GROW(pool->blocks, pool->n_blocks, pool->blocks_capacity);
    pool->blocks[pool->n_blocks++] = block;
  }
  return true;
}

void
td_page_pool_fini(td_page_pool *pool) {
  for (uint32_t i = 0; i < pool->n_blocks; i++)
    munmap(pool->blocks[i], BLOCK_BYTES);
  free(pool->blocks);
  free(pool->free_pages);
  *pool = (td_page_pool){0};
}

uint32_t
td_page_pool_take(td_page_pool *pool) {
  return pool->n_free ? pool->free_pages[--pool->n_free] : ++pool->n_taken;
}

void
td_page_pool_give(td_page_pool *pool, uint32_t page) {
  TD_GROW(pool->free_pages, pool->n_free, pool->free_capacity);
  pool->free_pages[pool->n_free++] = page;
}

td_state_page *
td_page_pool_get(const td_page_pool *pool, uint32_t page) {
  return &pool->blocks[(page - 1) / BLOCK_PAGES][(page - 1) % BLOCK_PAGES];
}

uint32_t
td_page_pool_in_use(const td_page_pool *pool) {
  return pool->n_taken - pool->n_free;
}
