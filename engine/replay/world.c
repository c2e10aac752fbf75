/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/world.h"

#include "engine/base/alloc.h"

#include <string.h>
#include <sys/mman.h>

/* Where the parts of the block lie. */
typedef struct layout {
  size_t header, nodes, queues, threads, graph_tasks, first_entry, entries, tasks, arrivals, end;
} layout;

static size_t
place(size_t *end, uint64_t n, size_t size) {
  size_t at = *end;
  *end = at + (n * size + 15) / 16 * 16;
  return at;
}

static layout
lay_out(const td_catalog *catalog, const td_world *world) {
  layout at = {0};
  at.header = place(&at.end, 1, sizeof(td_state_header));
  at.nodes = place(&at.end, catalog->n_nodes, sizeof(td_node_now));
  at.queues = place(&at.end, catalog->n_queues, sizeof(td_queue_now));
  at.threads = place(&at.end, catalog->n_threads, sizeof(td_thread_now));
  at.graph_tasks = place(&at.end, catalog->n_graph_tasks, sizeof(td_graph_task_now));
  at.first_entry = place(&at.end, catalog->n_queues, sizeof(uint32_t));
  at.entries = place(&at.end, world->n_entries, sizeof(td_queue_entry));
  at.tasks = place(&at.end, world->n_tasks, sizeof(td_task_now));
  at.arrivals = place(&at.end, world->n_arrivals, sizeof(td_arrival_now));
  return at;
}

static void
point_into_block(td_state *state, const layout *at) {
  state->header = (void *)(state->bytes + at->header);
  state->nodes = (void *)(state->bytes + at->nodes);
  state->queues = (void *)(state->bytes + at->queues);
  state->threads = (void *)(state->bytes + at->threads);
  state->graph_tasks = (void *)(state->bytes + at->graph_tasks);
  state->first_entry = (void *)(state->bytes + at->first_entry);
  state->entries = (void *)(state->bytes + at->entries);
  state->tasks = (void *)(state->bytes + at->tasks);
  state->arrivals = (void *)(state->bytes + at->arrivals);
}

static void
fill_first_state(td_state *state, const td_catalog *catalog) {
  *state->header = (td_state_header){.free_task = TD_NONE,
                                     .free_arrival = TD_NONE,
                                     .first_parked = TD_NONE,
                                     .last_parked = TD_NONE,
                                     .current_node = TD_NONE,
                                     .step = TD_NONE};
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    state->nodes[i] = (td_node_now){
        .state = TD_NODE_absent, .thread = TD_NONE, .graph_task = TD_NONE, .task = TD_NONE};
  uint32_t entry = 0;
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    state->queues[i] = (td_queue_now){.last_node = TD_NONE, .last_pop_seq = UINT64_MAX};
    state->first_entry[i] = entry;
    entry += catalog->queues[i].max_size;
  }
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    state->threads[i] = (td_thread_now){.state = TD_thread_activity_outside,
                                        .node = TD_NONE,
                                        .graph_task = TD_NONE,
                                        .lock = TD_NONE};
}

/* Untouched pages of a reserved mapping cost nothing, so the pools may be as large as the tape
 * allows. */
static bool
reserve_block(td_state *state, size_t n_bytes) {
  void *block = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return false;
  state->bytes = block;
  state->n_bytes = n_bytes;
  return true;
}

static uint64_t
count_entries(const td_catalog *catalog) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    n += catalog->queues[i].max_size;
  return n;
}

static uint32_t
upper_bound(uint64_t n) {
  return (uint32_t)TD_MIN(n, TD_NONE - 1);
}

td_status
td_world_init(td_world *world, const td_catalog *catalog, const td_tape_info *info,
              td_error *error) {
  const uint64_t *counts = info->n_by_kind;
  *world = (td_world){.catalog = catalog};
  world->n_entries = upper_bound(count_entries(catalog));
  world->n_arrivals = upper_bound(counts[TD_EVENT_buffer_add]);
  world->n_tasks = upper_bound(counts[TD_EVENT_dependency] + counts[TD_EVENT_queue_push] +
                               counts[TD_EVENT_buffer_add]);
  layout at = lay_out(catalog, world);
  size_t n_bytes = (at.end + TD_WORLD_PAGE_BYTES - 1) & ~(TD_WORLD_PAGE_BYTES - 1);
  world->n_pages = n_bytes >> TD_WORLD_PAGE_SHIFT;
  world->n_initial_pages = (at.entries + TD_WORLD_PAGE_BYTES - 1) >> TD_WORLD_PAGE_SHIFT;
  world->dirty = td_try_alloc(world->n_pages, sizeof *world->dirty);
  world->dirty_pages = td_try_alloc(world->n_pages, sizeof *world->dirty_pages);
  bool fits = n_bytes / sizeof(uint32_t) <= UINT32_MAX;
  if (!fits || !world->dirty || !world->dirty_pages || !reserve_block(&world->state, n_bytes)) {
    td_world_fini(world);
    return td_error_set(error, TD_OUT_OF_MEMORY, "no memory for the state of %u nodes",
                        catalog->n_nodes);
  }
  point_into_block(&world->state, &at);
  fill_first_state(&world->state, catalog);
  return TD_OK;
}

void
td_world_fini(td_world *world) {
  if (world->state.bytes) munmap(world->state.bytes, world->state.n_bytes);
  free(world->dirty);
  free(world->dirty_pages);
  free(world->journal);
  *world = (td_world){0};
}

void
td_world_grow_journal(td_world *world) {
  TD_GROW(world->journal, world->n_journal, world->journal_capacity);
}

void
td_world_undo(td_world *world, size_t mark) {
  td_word *words = (td_word *)(void *)world->state.bytes;
  bool journalling = world->journalling;
  world->journalling = false;
  while (world->n_journal > mark) {
    const td_undo_word *undo = &world->journal[--world->n_journal];
    td_world_set(world, words + undo->word, undo->old);
  }
  world->journalling = journalling;
}
