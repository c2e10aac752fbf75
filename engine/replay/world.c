/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/world.h"

#include "engine/base/alloc.h"

#include <string.h>

/* How elements begin that do not begin as zeros. */
static const td_node_now first_node_at = {
    .state = TD_NODE_absent, .thread = TD_NONE, .graph_task = TD_NONE, .task = TD_NONE};
static const td_run_now first_run_at;
static const td_queue_now first_queue = {.last_node = TD_NONE, .last_pop_seq = UINT64_MAX};
static const td_thread_now first_thread = {
    .state = TD_thread_activity_outside, .node = TD_NONE, .graph_task = TD_NONE, .lock = TD_NONE};
static const td_graph_task_now first_graph_task_at;
static const td_queue_entry first_entry;
static const td_task_now first_task = {.node = TD_NONE};
static const uint32_t first_free_task;
static const td_arrival_now first_arrival;
static const td_pair_now first_pair_at;

static const td_state_header first_header = {.free_arrival = TD_NONE,
                                             .first_parked = TD_NONE,
                                             .last_parked = TD_NONE,
                                             .current_node = TD_NONE,
                                             .step = TD_NONE,
                                             .free_pair = TD_NONE};

static const struct {
  const void *first;
  size_t size;
  uint32_t per_page;
} parts[TD_WORLD_N_PARTS] = {
#define TD_STATE_PART(element, table, type)                                                        \
  [TD_WORLD_##table] = {&first_##element, sizeof(type), TD_STATE_PER_PAGE(type)},
    TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
};

static uint32_t
make_initial_page(td_world *world, const void *element, size_t size) {
  uint32_t taken = td_page_pool_take(&world->pool);
  td_state_page *page = td_page_pool_get(&world->pool, taken);
  for (size_t at = 0; at + size <= sizeof page->elements; at += size)
    memcpy(page->elements + at, element, size);
  return taken;
}

static bool
resize(void *array, uint32_t n, size_t size) {
  void **block = array;
  void *larger = realloc(*block, (size_t)n * size);
  if (larger) *block = larger;
  return larger != NULL;
}

static bool
reserve_page(td_world *world) {
  td_state *state = &world->state;
  if (state->n_pages == UINT32_MAX / TD_STATE_PAGE_WORDS) return false;
  if (state->n_pages == world->capacity) {
    uint32_t capacity = TD_MAX(2 * world->capacity, 64);
    if (!resize(&world->contents, capacity, sizeof *world->contents) ||
        !resize(&world->pages, capacity, sizeof *world->pages) ||
        !resize(&world->dirty_pages, capacity, sizeof *world->dirty_pages))
      return false;
    world->capacity = capacity;
    state->pages = world->contents;
  }
  state->n_pages++;
  if (td_world_promise(world)) return true;
  state->n_pages--;
  return false;
}

/* Adds a page to the state that is equal to `initial`. */
static bool
add_page(td_world *world, uint32_t initial) {
  if (!reserve_page(world)) return false;
  uint32_t number = world->state.n_pages - 1;
  world->pages[number] = (td_world_page){.current = initial, .initial = initial};
  world->contents[number] = td_page_pool_get(&world->pool, initial);
  return true;
}

/* td_state knows its tables by name. */
static void
show_tables(td_world *world) {
#define TD_STATE_PART(element, table, type)                                                        \
  world->state.table = world->tables[TD_WORLD_##table].numbers;
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
}

static bool
grow_once(td_world *world, td_world_part part) {
  td_world_table *table = &world->tables[part];
  if (table->n_pages == table->capacity) {
    uint32_t capacity = TD_MAX(2 * table->capacity, 4);
    if (!resize(&table->numbers, capacity, sizeof *table->numbers)) return false;
    table->capacity = capacity;
    show_tables(world);
  }
  if (!add_page(world, table->initial)) return false;
  table->numbers[table->n_pages++] = world->state.n_pages - 1;
  table->room += parts[part].per_page;
  return true;
}

bool
td_world_grow(td_world *world, td_world_part part, uint32_t n) {
  bool grown = n != TD_NONE;
  while (grown && n > world->tables[part].room)
    grown = grow_once(world, part);
  world->out_of_memory |= !grown;
  return grown;
}

/* Gives each id and row of the catalog its element. */
static bool
fit(td_world *world) {
  const td_catalog *catalog = world->state.catalog;
  return td_world_grow(world, TD_WORLD_nodes, catalog->n_nodes) &&
         td_world_grow(world, TD_WORLD_runs, catalog->n_nodes) &&
         td_world_grow(world, TD_WORLD_queues, catalog->n_queues) &&
         td_world_grow(world, TD_WORLD_threads, catalog->n_threads) &&
         td_world_grow(world, TD_WORLD_graph_tasks, catalog->n_graph_tasks);
}

static td_status
no_memory(const td_world *world, td_error *error) {
  return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the state of %u nodes",
                      world->state.catalog->n_nodes);
}

static bool
make_first_pages(td_world *world) {
  if (!td_page_pool_promise(&world->pool, 1 + TD_WORLD_N_PARTS)) return false;
  for (td_world_part part = 0; part < TD_WORLD_N_PARTS; part++)
    world->tables[part].initial = make_initial_page(world, parts[part].first, parts[part].size);
  if (!add_page(world, make_initial_page(world, &first_header, sizeof first_header))) return false;
  td_world_own(world, TD_WORLD_HEADER_PAGE);
  world->state.header = (void *)world->contents[TD_WORLD_HEADER_PAGE]->elements;
  return fit(world);
}

td_status
td_world_fit(td_world *world, td_error *error) {
  return fit(world) && !world->out_of_memory ? TD_OK : no_memory(world, error);
}

td_status
td_world_init(td_world *world, const td_catalog *catalog, td_error *error) {
  *world = (td_world){.state.catalog = catalog};
  if (make_first_pages(world)) return TD_OK;
  td_status status = no_memory(world, error);
  td_world_fini(world);
  return status;
}

void
td_world_fini(td_world *world) {
  td_page_pool_fini(&world->pool);
  for (td_world_part part = 0; part < TD_WORLD_N_PARTS; part++)
    free(world->tables[part].numbers);
  free(world->contents);
  free(world->pages);
  free(world->dirty_pages);
  free(world->journal);
  *world = (td_world){0};
}

bool
td_world_promise(td_world *world) {
  return td_page_pool_promise(&world->pool, world->state.n_pages - world->n_own + 1);
}

void
td_world_own(td_world *world, uint32_t page) {
  td_world_page *known = &world->pages[page];
  if (known->own) return;
  uint32_t copy = td_page_pool_take(&world->pool);
  td_state_page *bytes = td_page_pool_get(&world->pool, copy);
  memcpy(bytes->elements, world->contents[page]->elements, sizeof bytes->elements);
  bytes->number = page;
  world->contents[page] = bytes;
  known->current = copy;
  known->own = true;
  world->n_own++;
}

const td_task_now *
td_world_first_task(const td_world *world) {
  uint32_t page = world->tables[TD_WORLD_tasks].initial;
  return (const void *)td_page_pool_get(&world->pool, page)->elements;
}

bool
td_world_is_initial(const td_world *world, uint32_t page) {
  const td_state_page *now = world->contents[page];
  const td_state_page *first = td_page_pool_get(&world->pool, world->pages[page].initial);
  return memcmp(now->elements, first->elements, sizeof now->elements) == 0;
}

void
td_world_share(td_world *world, uint32_t page) {
  world->pages[page].own = false;
  world->pages[page].dirty = false;
  world->n_own--;
}

void
td_world_put(td_world *world, uint32_t page, uint32_t current) {
  td_world_page *known = &world->pages[page];
  if (known->own) td_page_pool_give(&world->pool, known->current);
  world->n_own -= known->own;
  *known = (td_world_page){.current = current, .initial = known->initial};
  world->contents[page] = td_page_pool_get(&world->pool, current);
}

void
td_world_grow_journal(td_world *world) {
  TD_GROW(world->journal, world->n_journal, world->journal_capacity);
}

void
td_world_undo(td_world *world, size_t mark) {
  bool journalling = world->journalling;
  world->journalling = false;
  while (world->n_journal > mark) {
    const td_undo_word *undo = &world->journal[--world->n_journal];
    uint32_t page = undo->word / TD_STATE_PAGE_WORDS;
    td_world_own(world, page);
    td_word *words = (td_word *)(void *)world->contents[page];
    td_world_set(world, words + undo->word % TD_STATE_PAGE_WORDS, undo->old);
  }
  world->journalling = journalling;
}
