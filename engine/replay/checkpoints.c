/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/checkpoints.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdlib.h>
#include <string.h>

/* A seek applies at most so many events, and copies at most so many pages before it writes to them.
 * Both double when checkpoints are dropped. */
#define EVENTS_AT_FIRST 8192
#define PAGES_AT_FIRST 512
#define INITIAL 0 /* the page as it is before any event, and before its first version */

typedef struct version {
  uint32_t checkpoint, page; /* in the pool, or INITIAL */
} version;

/* The versions of one page, oldest first. A node's page changes while the node lives and not before
 * or after. So first and last stand here, and a restore need not look at the versions of all pages
 * of a long tape. */
typedef struct page_versions {
  version *versions; /* (owned) */
  uint32_t n, capacity;
  uint32_t first_checkpoint; /* of the versions */
  version last;
} page_versions;

struct td_checkpoints {
  td_world *world;     /* (borrowed) */
  uint64_t *positions; /* (owned) of the checkpoints laid */
  uint32_t n, capacity;
  uint64_t most_events; /* from one to the next */
  uint32_t most_pages;
  uint32_t budget_pages;
  page_versions *histories; /* (owned) [n_histories] of the first pages of the world */
  uint32_t *pages;          /* (owned) [n_histories] the pages that ever had a version */
  uint32_t n_histories;
  uint32_t n_pages;
};

static void
note_ends(page_versions *history) {
  history->first_checkpoint = history->versions[0].checkpoint;
  history->last = history->versions[history->n - 1];
}

static uint32_t
copy_header(td_world *world) {
  uint32_t copy = td_page_pool_take(&world->pool);
  *td_page_pool_get(&world->pool, copy) = *world->contents[TD_WORLD_HEADER_PAGE];
  return copy;
}

/* The world shares its page, but for the header's: that one is copied. */
static uint32_t
version_of(td_world *world, uint32_t page) {
  if (page == TD_WORLD_HEADER_PAGE) return copy_header(world);
  if (td_world_is_initial(world, page)) {
    td_world_put(world, page, world->pages[page].initial);
    return INITIAL;
  }
  td_world_share(world, page);
  return world->pages[page].current;
}

static void
store_page(td_checkpoints *checkpoints, uint32_t page) {
  page_versions *history = &checkpoints->histories[page];
  if (history->n == 0) checkpoints->pages[checkpoints->n_pages++] = page;
  TD_GROW(history->versions, history->n, history->capacity);
  history->versions[history->n++] = (version){checkpoints->n, version_of(checkpoints->world, page)};
  note_ends(history);
}

static void
forget_dirty(td_world *world) {
  for (uint32_t i = 0; i < world->n_dirty; i++)
    world->pages[world->dirty_pages[i]].dirty = false;
  world->n_dirty = 0;
}

static void
give_back(td_checkpoints *checkpoints, uint32_t page) {
  if (page != INITIAL) td_page_pool_give(&checkpoints->world->pool, page);
}

/* Checkpoint 2j + 1 is dropped: what it changed counts as changed by 2j + 2, unless that changed it
 * again. */
static void
thin_history(td_checkpoints *checkpoints, page_versions *history) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < history->n; i++) {
    version moved = {(history->versions[i].checkpoint + 1) / 2, history->versions[i].page};
    if (kept && history->versions[kept - 1].checkpoint == moved.checkpoint)
      give_back(checkpoints, history->versions[--kept].page);
    history->versions[kept++] = moved;
  }
  history->n = kept;
  if (kept) note_ends(history);
}

/* Only right after an even-numbered checkpoint was laid, so that the last one stays. */
static void
thin(td_checkpoints *checkpoints) {
  for (uint32_t i = 0; i < checkpoints->n_pages; i++)
    thin_history(checkpoints, &checkpoints->histories[checkpoints->pages[i]]);
  checkpoints->most_events *= 2;
  checkpoints->most_pages = TD_MIN(checkpoints->most_pages, UINT32_MAX / 2) * 2;
  checkpoints->n = (checkpoints->n + 1) / 2;
  for (uint32_t i = 0; i < checkpoints->n; i++)
    checkpoints->positions[i] = checkpoints->positions[2 * i];
}

/* What the world itself may need is in use too. */
static bool
is_over_budget(const td_checkpoints *checkpoints) {
  const td_world *world = checkpoints->world;
  return td_page_pool_in_use(&world->pool) - world->n_own > checkpoints->budget_pages;
}

bool
td_checkpoints_due(const td_checkpoints *checkpoints) {
  const td_world *world = checkpoints->world;
  uint64_t n_events = world->state.header->seq - checkpoints->positions[checkpoints->n - 1];
  return n_events >= checkpoints->most_events || world->n_dirty >= checkpoints->most_pages;
}

/* The world may have grown. */
static bool
reserve_histories(td_checkpoints *checkpoints) {
  uint32_t n = checkpoints->n_histories, n_pages = checkpoints->world->state.n_pages;
  if (n_pages <= n) return true;
  uint32_t more = (uint32_t)TD_MIN(TD_MAX(n_pages, 2 * (uint64_t)n), UINT32_MAX);
  page_versions *histories = realloc(checkpoints->histories, (size_t)more * sizeof *histories);
  if (histories) checkpoints->histories = histories;
  uint32_t *pages = realloc(checkpoints->pages, (size_t)more * sizeof *pages);
  if (pages) checkpoints->pages = pages;
  if (!histories || !pages) return false;
  memset(histories + n, 0, (size_t)(more - n) * sizeof *histories);
  checkpoints->n_histories = more;
  return true;
}

static bool
lay(td_checkpoints *checkpoints) {
  td_world *world = checkpoints->world;
  if (!reserve_histories(checkpoints)) return false;
  for (uint32_t i = 0; i < world->n_dirty; i++)
    store_page(checkpoints, world->dirty_pages[i]);
  forget_dirty(world);
  TD_GROW(checkpoints->positions, checkpoints->n, checkpoints->capacity);
  checkpoints->positions[checkpoints->n++] = world->state.header->seq;
  return true;
}

bool
td_checkpoints_lay(td_checkpoints *checkpoints) {
  if (!lay(checkpoints)) return false;
  bool last_is_even = checkpoints->n % 2 == 1;
  if (last_is_even && is_over_budget(checkpoints)) thin(checkpoints);
  return td_world_promise(checkpoints->world);
}

td_checkpoints *
td_checkpoints_new(td_world *world, uint32_t most_events, size_t budget_bytes) {
  td_checkpoints *checkpoints = TD_NEW(td_checkpoints);
  checkpoints->world = world;
  checkpoints->most_events = most_events ? most_events : EVENTS_AT_FIRST;
  checkpoints->most_pages = PAGES_AT_FIRST;
  checkpoints->budget_pages = (uint32_t)(budget_bytes / TD_STATE_PAGE_BYTES);
  if (lay(checkpoints) && td_world_promise(world)) return checkpoints;
  td_checkpoints_free(checkpoints);
  return NULL;
}

void
td_checkpoints_free(td_checkpoints *checkpoints) {
  if (!checkpoints) return;
  for (uint32_t i = 0; i < checkpoints->n_pages; i++)
    free(checkpoints->histories[checkpoints->pages[i]].versions);
  free(checkpoints->positions);
  free(checkpoints->histories);
  free(checkpoints->pages);
  free(checkpoints);
}

/* The number of the last checkpoint not after a position. */
static uint32_t
checkpoint_before(const td_checkpoints *checkpoints, uint64_t position) {
  uint32_t after;
  TD_BISECT(after, 1, checkpoints->n, checkpoints->positions[after] <= position);
  return after - 1;
}

uint64_t
td_checkpoints_before(const td_checkpoints *checkpoints, uint64_t position) {
  return checkpoints->positions[checkpoint_before(checkpoints, position)];
}

static uint32_t
version_at(const page_versions *history, uint32_t checkpoint) {
  if (history->n == 0 || checkpoint < history->first_checkpoint) return INITIAL;
  if (checkpoint >= history->last.checkpoint) return history->last.page;
  uint32_t after;
  TD_BISECT(after, 0, history->n, history->versions[after].checkpoint <= checkpoint);
  return after ? history->versions[after - 1].page : INITIAL;
}

static void
restore_page(td_world *world, uint32_t page, uint32_t version) {
  uint32_t wanted = version == INITIAL ? world->pages[page].initial : version;
  if (page == TD_WORLD_HEADER_PAGE)
    memcpy(world->contents[page]->elements, td_page_pool_get(&world->pool, wanted)->elements,
           sizeof world->contents[page]->elements);
  else if (world->pages[page].current != wanted)
    td_world_put(world, page, wanted);
}

/* Pages written after the last checkpoint only have no version. */
static void
restore_unversioned(td_checkpoints *checkpoints) {
  td_world *world = checkpoints->world;
  for (uint32_t i = 0; i < world->n_dirty; i++) {
    uint32_t page = world->dirty_pages[i];
    bool is_versioned = page < checkpoints->n_histories && checkpoints->histories[page].n > 0;
    if (!is_versioned) restore_page(world, page, INITIAL);
  }
}

void
td_checkpoints_restore(td_checkpoints *checkpoints, uint64_t position) {
  uint32_t checkpoint = checkpoint_before(checkpoints, position);
  restore_unversioned(checkpoints);
  for (uint32_t i = 0; i < checkpoints->n_pages; i++) {
    uint32_t page = checkpoints->pages[i];
    restore_page(checkpoints->world, page, version_at(&checkpoints->histories[page], checkpoint));
  }
  forget_dirty(checkpoints->world);
}
