/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/checkpoints.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_EVENTS 4096
#define BLOCK_SLOTS 1024 /* stored pages are allocated so many at a time */
#define ZEROS 0          /* "slot" of a page before its first version; slots count from 1 */

typedef struct version {
  uint32_t checkpoint, slot;
} version;

/* The versions of one page, oldest first, and which of them the world's page was last equal to. A
 * node's page changes while the node lives and not before or after: first and last stand here, so
 * that a restore need not look at the versions of all pages of a long tape. */
typedef struct page_versions {
  version *versions; /* (owned) */
  uint32_t n, capacity;
  uint32_t current;          /* slot */
  uint32_t first_checkpoint; /* of the versions */
  version last;
} page_versions;

struct td_checkpoints {
  td_world *world; /* (borrowed) */
  uint64_t interval;
  uint32_t n; /* checkpoints laid */
  size_t budget_slots;
  page_versions *histories; /* (owned) [world->n_pages] */
  uint32_t *pages;          /* (owned) the pages that ever had a version */
  size_t n_pages;
  unsigned char **blocks; /* (owned, as the blocks) */
  uint32_t n_blocks, blocks_capacity;
  uint32_t n_slots;     /* ever used */
  uint32_t *free_slots; /* (owned) */
  uint32_t n_free, free_capacity;
};

static unsigned char *
slot_bytes(const td_checkpoints *checkpoints, uint32_t slot) {
  return checkpoints->blocks[(slot - 1) / BLOCK_SLOTS] +
         (slot - 1) % BLOCK_SLOTS * TD_WORLD_PAGE_BYTES;
}

static unsigned char *
page_bytes(const td_checkpoints *checkpoints, uint32_t page) {
  return checkpoints->world->state.bytes + ((size_t)page << TD_WORLD_PAGE_SHIFT);
}

static size_t
slots_in_use(const td_checkpoints *checkpoints) {
  return checkpoints->n_slots - checkpoints->n_free;
}

static bool
take_slot(td_checkpoints *checkpoints, uint32_t *slot) {
  if (checkpoints->n_free) {
    *slot = checkpoints->free_slots[--checkpoints->n_free];
    return true;
  }
  if (checkpoints->n_slots == checkpoints->n_blocks * BLOCK_SLOTS) {
    unsigned char *block = malloc(BLOCK_SLOTS * TD_WORLD_PAGE_BYTES);
    if (!block) return false;
    TD_GROW(checkpoints->blocks, checkpoints->n_blocks, checkpoints->blocks_capacity);
    checkpoints->blocks[checkpoints->n_blocks++] = block;
  }
  *slot = ++checkpoints->n_slots;
  return true;
}

static void
give_slot(td_checkpoints *checkpoints, uint32_t slot) {
  TD_GROW(checkpoints->free_slots, checkpoints->n_free, checkpoints->free_capacity);
  checkpoints->free_slots[checkpoints->n_free++] = slot;
}

static void
note_ends(page_versions *history) {
  history->first_checkpoint = history->versions[0].checkpoint;
  history->last = history->versions[history->n - 1];
}

static bool
store_page(td_checkpoints *checkpoints, uint32_t page) {
  page_versions *history = &checkpoints->histories[page];
  uint32_t slot;
  if (!take_slot(checkpoints, &slot)) return false;
  memcpy(slot_bytes(checkpoints, slot), page_bytes(checkpoints, page), TD_WORLD_PAGE_BYTES);
  if (history->n == 0) checkpoints->pages[checkpoints->n_pages++] = page;
  TD_GROW(history->versions, history->n, history->capacity);
  history->versions[history->n++] = (version){checkpoints->n, slot};
  history->current = slot;
  note_ends(history);
  return true;
}

static void
forget_dirty(td_world *world) {
  for (size_t i = 0; i < world->n_dirty; i++)
    world->dirty[world->dirty_pages[i]] = 0;
  world->n_dirty = 0;
}

/* Checkpoint 2j + 1 is dropped: what it changed counts as changed by 2j + 2, unless that changed it
 * again. */
static void
thin_history(td_checkpoints *checkpoints, page_versions *history) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < history->n; i++) {
    version moved = {(history->versions[i].checkpoint + 1) / 2, history->versions[i].slot};
    if (kept && history->versions[kept - 1].checkpoint == moved.checkpoint)
      give_slot(checkpoints, history->versions[--kept].slot);
    history->versions[kept++] = moved;
  }
  history->n = kept;
  if (kept) note_ends(history);
}

/* Only right after an even-numbered checkpoint was laid, so that the last one stays. */
static void
thin(td_checkpoints *checkpoints) {
  for (size_t i = 0; i < checkpoints->n_pages; i++)
    thin_history(checkpoints, &checkpoints->histories[checkpoints->pages[i]]);
  checkpoints->interval *= 2;
  checkpoints->n = (checkpoints->n + 1) / 2;
}

bool
td_checkpoints_lay(td_checkpoints *checkpoints) {
  td_world *world = checkpoints->world;
  for (size_t i = 0; i < world->n_dirty; i++)
    if (!store_page(checkpoints, world->dirty_pages[i])) return false;
  forget_dirty(world);
  checkpoints->n++;
  bool last_is_even = checkpoints->n % 2 == 1;
  if (last_is_even && slots_in_use(checkpoints) > checkpoints->budget_slots) thin(checkpoints);
  return true;
}

/* Pages of the block that do not begin as zeros make checkpoint 0. */
static bool
lay_first(td_checkpoints *checkpoints) {
  for (size_t page = 0; page < checkpoints->world->n_initial_pages; page++)
    if (!store_page(checkpoints, (uint32_t)page)) return false;
  checkpoints->n = 1;
  return true;
}

td_checkpoints *
td_checkpoints_new(td_world *world, uint32_t interval_events, size_t budget_bytes) {
  td_checkpoints *checkpoints = TD_NEW(td_checkpoints);
  checkpoints->world = world;
  checkpoints->interval = interval_events ? interval_events : INTERVAL_EVENTS;
  checkpoints->budget_slots = budget_bytes / TD_WORLD_PAGE_BYTES;
  checkpoints->histories = td_try_alloc(world->n_pages, sizeof *checkpoints->histories);
  checkpoints->pages = td_try_alloc(world->n_pages, sizeof *checkpoints->pages);
  if (checkpoints->histories && checkpoints->pages && lay_first(checkpoints)) return checkpoints;
  td_checkpoints_free(checkpoints);
  return NULL;
}

void
td_checkpoints_free(td_checkpoints *checkpoints) {
  if (!checkpoints) return;
  for (size_t i = 0; i < checkpoints->n_pages; i++)
    free(checkpoints->histories[checkpoints->pages[i]].versions);
  for (uint32_t i = 0; i < checkpoints->n_blocks; i++)
    free(checkpoints->blocks[i]);
  free(checkpoints->blocks);
  free(checkpoints->free_slots);
  free(checkpoints->histories);
  free(checkpoints->pages);
  free(checkpoints);
}

uint64_t
td_checkpoints_interval(const td_checkpoints *checkpoints) {
  return checkpoints->interval;
}

uint64_t
td_checkpoints_before(const td_checkpoints *checkpoints, uint64_t position) {
  uint64_t checkpoint = position / checkpoints->interval;
  return TD_MIN(checkpoint, checkpoints->n - 1) * checkpoints->interval;
}

static uint32_t
slot_at(const page_versions *history, uint32_t checkpoint) {
  uint32_t low = 0, high = history->n;
  if (high == 0 || checkpoint < history->first_checkpoint) return ZEROS;
  if (checkpoint >= history->last.checkpoint) return history->last.slot;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (history->versions[middle].checkpoint <= checkpoint)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? history->versions[low - 1].slot : ZEROS;
}

static void
restore_page(td_checkpoints *checkpoints, uint32_t page, uint32_t checkpoint) {
  page_versions *history = &checkpoints->histories[page];
  uint32_t slot = slot_at(history, checkpoint);
  if (history->current == slot && !checkpoints->world->dirty[page]) return;
  if (slot == ZEROS)
    memset(page_bytes(checkpoints, page), 0, TD_WORLD_PAGE_BYTES);
  else
    memcpy(page_bytes(checkpoints, page), slot_bytes(checkpoints, slot), TD_WORLD_PAGE_BYTES);
  history->current = slot;
}

/* Pages written after the last checkpoint only have no version: they begin as zeros. */
static void
restore_unversioned(td_checkpoints *checkpoints) {
  td_world *world = checkpoints->world;
  for (size_t i = 0; i < world->n_dirty; i++)
    if (checkpoints->histories[world->dirty_pages[i]].n == 0)
      memset(page_bytes(checkpoints, world->dirty_pages[i]), 0, TD_WORLD_PAGE_BYTES);
}

void
td_checkpoints_restore(td_checkpoints *checkpoints, uint64_t position) {
  uint32_t checkpoint = (uint32_t)(position / checkpoints->interval);
  restore_unversioned(checkpoints);
  for (size_t i = 0; i < checkpoints->n_pages; i++)
    restore_page(checkpoints, checkpoints->pages[i], checkpoint);
  forget_dirty(checkpoints->world);
}
