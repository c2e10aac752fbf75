/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/world.h"

#include "engine/base/alloc.h"

#include <string.h>

/* How elements begin that do not begin as zeros. */
static const td_node_now first_node_row = {
    .state = TD_NODE_absent, .thread = TD_NONE, .graph_task = TD_NONE, .task = TD_NONE};
static const td_queue_now first_queue = {.last_node = TD_NONE, .last_pop_seq = UINT64_MAX};
static const td_thread_now first_thread = {
    .state = TD_thread_activity_outside, .node = TD_NONE, .graph_task = TD_NONE, .lock = TD_NONE};
static const td_graph_task_now first_graph_task_row;
static const td_queue_entry first_entry;
static const td_task_now first_task;
static const td_arrival_now first_arrival;

static const td_state_header first_header = {.free_task = TD_NONE,
                                             .free_arrival = TD_NONE,
                                             .first_parked = TD_NONE,
                                             .last_parked = TD_NONE,
                                             .current_node = TD_NONE,
                                             .step = TD_NONE};

/* How many elements each table has. */
typedef struct table_sizes {
#define TD_STATE_PART(element, table, type) uint32_t table;
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
} table_sizes;

static uint32_t
upper_bound(uint64_t n) {
  return (uint32_t)TD_MIN(n, TD_NONE - 1);
}

static table_sizes
count_elements(const td_catalog *catalog) {
  const uint64_t *counts = catalog->n_by_kind;
  uint64_t n_entries = 0;
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    n_entries += catalog->queues[i].room;
  return (table_sizes){.nodes = catalog->n_nodes,
                       .queues = catalog->n_queues,
                       .threads = catalog->n_threads,
                       .graph_tasks = catalog->n_graph_tasks,
                       .entries = upper_bound(n_entries),
                       .tasks =
                           upper_bound(counts[TD_EVENT_dependency] + counts[TD_EVENT_queue_push] +
                                       counts[TD_EVENT_buffer_add]),
                       .arrivals = upper_bound(counts[TD_EVENT_buffer_add])};
}

static uint32_t
pages_for(uint32_t n, uint32_t per_page) {
  return n / per_page + (n % per_page != 0);
}

static uint64_t
count_pages(const table_sizes *n) {
  uint64_t n_pages = 1; /* the header */
#define TD_STATE_PART(element, table, type) n_pages += pages_for(n->table, TD_STATE_PER_PAGE(type));
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
  return n_pages;
}

static uint32_t
make_initial_page(td_world *world, const void *element, size_t size) {
  uint32_t taken = td_page_pool_take(&world->pool);
  td_state_page *page = td_page_pool_get(&world->pool, taken);
  for (size_t at = 0; at + size <= sizeof page->elements; at += size)
    memcpy(page->elements + at, element, size);
  return taken;
}

/* Makes `n` pages equal to `initial`, and returns the page after them. */
static uint32_t
fill_table(td_world *world, uint32_t first, uint32_t n, uint32_t initial) {
  for (uint32_t page = first; page < first + n; page++) {
    world->pages[page] = (td_world_page){.current = initial, .initial = initial};
    world->contents[page] = td_page_pool_get(&world->pool, initial);
  }
  return first + n;
}

static void
fill_first_state(td_world *world, const table_sizes *n) {
  td_state *state = &world->state;
  uint32_t first = fill_table(world, TD_WORLD_HEADER_PAGE, 1,
                              make_initial_page(world, &first_header, sizeof first_header));
#define TD_STATE_PART(element, part, type)                                                         \
  state->part = state->pages + first;                                                              \
  first = fill_table(world, first, pages_for(n->part, TD_STATE_PER_PAGE(type)),                    \
                     make_initial_page(world, &first_##element, sizeof(type)));
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
  td_world_own(world, TD_WORLD_HEADER_PAGE);
  state->header = (void *)world->contents[TD_WORLD_HEADER_PAGE]->elements;
  uint32_t entry = 0;
  for (uint32_t i = 0; i < world->catalog->n_queues; i++) {
    world->first_entry[i] = entry;
    entry += world->catalog->queues[i].room;
  }
}

static bool
reserve(td_world *world, uint64_t n_pages) {
  if (n_pages > UINT32_MAX / TD_STATE_PAGE_WORDS) return false;
  td_state *state = &world->state;
  state->n_pages = (uint32_t)n_pages;
  state->pages = world->contents = td_try_alloc(state->n_pages, sizeof(td_state_page *));
  world->pages = td_try_alloc(state->n_pages, sizeof *world->pages);
  world->dirty_pages = td_try_alloc(state->n_pages, sizeof *world->dirty_pages);
  state->first_entry = world->first_entry =
      td_try_alloc(world->catalog->n_queues, sizeof *world->first_entry);
  const uint32_t n_initial = 1 + sizeof(table_sizes) / sizeof(uint32_t);
  return world->contents && world->pages && world->dirty_pages && world->first_entry &&
         td_page_pool_promise(&world->pool, state->n_pages + 1 + n_initial);
}

td_status
td_world_init(td_world *world, const td_catalog *catalog, td_error *error) {
  *world = (td_world){.catalog = catalog,
                      .state.node_ids = catalog->node_ids,
                      .state.graph_task_ids = catalog->graph_task_ids};
  table_sizes n = count_elements(catalog);
  world->n_tasks = n.tasks;
  world->n_arrivals = n.arrivals;
  if (!reserve(world, count_pages(&n))) {
    td_world_fini(world);
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the state of %u nodes",
                        catalog->n_nodes);
  }
  fill_first_state(world, &n);
  return TD_OK;
}

/* A world that gets a keyframe. */
typedef struct beginning {
  td_world *world;
  uint64_t time_ns; /* of the last event before the segment */
  bool troubled;
} beginning;

static td_status
apply_one(const td_any_event *event, uint64_t seq, void *data) {
  beginning *self = data;
  td_apply_event(self->world, event);
  self->troubled |= self->world->troubled;
  if (event->event.kind == TD_EVENT_totals_now) self->time_ns = event->event.time;
  return TD_OK;
}

td_status
td_world_begin(td_world *world, td_tape *tape, const td_segment *segment, td_error *error) {
  beginning self = {world, 0, false};
  td_status status = td_tape_visit_keyframe(tape, segment, apply_one, &self, error);
  td_world_set_u64(world, &world->state.header->seq, segment->first);
  td_world_set_u64(world, &world->state.header->time_ns, self.time_ns);
  world->troubled = self.troubled;
  return status;
}

void
td_world_fini(td_world *world) {
  td_page_pool_fini(&world->pool);
  free(world->contents);
  free(world->pages);
  free(world->first_entry);
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
