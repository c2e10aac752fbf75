/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * World: a state that can be written, private to engine/replay. A page of a state may be shared
 * with checkpoints. The world gets a page of its own before the first write: td_world_queue and its
 * like return elements that may be written. Every write goes through td_world_set. It marks the
 * page as changed, for checkpoints. While a journal is kept, it also notes the old word there, for
 * undo. So an applier of events need not know how to undo them.
 *
 * An element read by td_state_node and its like is out of date after a write to its page.
 *
 * One thread. */
#pragma once

#include "engine/replay/catalog_collect.h"
#include "engine/replay/page_pool.h"

/* A 32-bit word of a page, whatever members lie in it. */
typedef uint32_t __attribute__((may_alias)) td_word;

#define TD_STATE_PAGE_WORDS (TD_STATE_PAGE_BYTES / (uint32_t)sizeof(td_word))

typedef struct td_undo_word {
  uint32_t word; /* page * TD_STATE_PAGE_WORDS + number of the word in the page */
  uint32_t old;
} td_undo_word;

#define TD_WORLD_HEADER_PAGE 0u /* always the world's own */

/* What the world knows about one of its pages. */
typedef struct td_world_page {
  uint32_t current; /* in the pool */
  uint32_t initial; /* in the pool: the page before any event, shared by a whole table */
  bool own;         /* current is not shared */
  bool dirty;       /* written since the last checkpoint or restore */
} td_world_page;

/* A table of the state grows with what events name, and never shrinks. */
typedef struct td_world_table {
  uint32_t *numbers; /* (owned) [n_pages] the table in td_state */
  uint32_t n_pages, capacity;
  uint32_t room;    /* elements in these pages */
  uint32_t initial; /* in the pool: how a page begins */
} td_world_table;

typedef enum td_world_part {
#define TD_STATE_PART(element, table, type) TD_WORLD_##table,
  TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART
      TD_WORLD_N_PARTS
} td_world_part;

typedef struct td_world {
  td_state state;
  td_world_table tables[TD_WORLD_N_PARTS];

  td_page_pool pool;
  td_state_page **contents; /* (owned) [state.n_pages]: state.pages */
  td_world_page *pages;     /* (owned) [state.n_pages] */
  uint32_t *dirty_pages;    /* (owned) [state.n_pages] the pages with dirty set */
  uint32_t capacity;        /* of these three */
  uint32_t n_own;           /* pages */
  uint32_t n_dirty;

  bool journalling;
  td_undo_word *journal; /* (owned) */
  size_t n_journal, journal_capacity;

  td_contradiction contradiction; /* how the event being applied contradicts the state, or none */
  td_node_state contradicted;     /* of the pair that it is about, if it is of one */
  bool is_beginning;              /* a keyframe is being applied */
  bool out_of_memory;             /* a table could not grow */
} td_world;

/* td_world_init makes the state before the first event. The catalog may still be collected.
 * TD_OUT_OF_MEMORY. */
td_status td_world_init(td_world *world, const td_catalog *catalog, td_error *error);

/* td_world_fit gives each id and row of the catalog its element: before an event of a catalog that
 * is still collected. TD_OUT_OF_MEMORY, also if a table could not grow before. */
td_status td_world_fit(td_world *world, td_error *error);
void td_world_fini(td_world *world);

/* td_world_grow gives a table room for n elements at least. Without memory it returns false and
 * sets out_of_memory. */
bool td_world_grow(td_world *world, td_world_part part, uint32_t n);

/* td_world_is_fit tells whether td_world_fit has nothing to do. */
static inline bool
td_world_is_fit(const td_world *world) {
  const td_catalog *catalog = world->state.catalog;
  return catalog->n_nodes <= world->tables[TD_WORLD_nodes].room &&
         catalog->n_nodes <= world->tables[TD_WORLD_runs].room &&
         catalog->n_queues <= world->tables[TD_WORLD_queues].room &&
         catalog->n_threads <= world->tables[TD_WORLD_threads].room &&
         catalog->n_graph_tasks <= world->tables[TD_WORLD_graph_tasks].room;
}

/* td_world_own gives the world a copy of a shared page. */
void td_world_own(td_world *world, uint32_t page);

/* td_world_first_task returns a task as it is before any event. td_world_is_initial tells whether a
 * page is as it was before any event. */
const td_task_now *td_world_first_task(const td_world *world);
bool td_world_is_initial(const td_world *world, uint32_t page);

/* td_world_share lets a page of the world's own become `current` of a checkpoint too.
 * td_world_put makes a page of the pool the world's, and gives back a page of its own. The page is
 * no longer dirty after both. */
void td_world_share(td_world *world, uint32_t page);
void td_world_put(td_world *world, uint32_t page, uint32_t current);

/* td_world_promise makes sure that the world can own each page, and that one checkpoint can copy
 * the header. False without memory. */
bool td_world_promise(td_world *world);

/* td_world_grow_journal is td_world_set's slow path. */
void td_world_grow_journal(td_world *world);

/* td_world_node_at, td_world_queue, ... return an element of a table, to be written. */
#define TD_STATE_PART(element, table, type)                                                        \
  static inline type *td_world_##element(td_world *world, uint32_t i) {                            \
    uint32_t number = world->state.table[i / TD_STATE_PER_PAGE(type)];                             \
    if (!world->pages[number].own) td_world_own(world, number);                                    \
    void *elements = world->contents[number]->elements;                                            \
    return (type *)elements + i % TD_STATE_PER_PAGE(type);                                         \
  }
TD_STATE_PARTS(TD_STATE_PART)
#undef TD_STATE_PART

/* td_world_node and its like return the element of an id that an event names. */
static inline td_node_now *
td_world_node(td_world *world, uint32_t node) {
  const td_catalog *catalog = world->state.catalog;
  uint32_t row = td_catalog_node_row(catalog, node);
  return td_world_node_at(world, td_catalog_place(catalog->node_places, row));
}

static inline td_run_now *
td_world_run_of(td_world *world, uint32_t node) {
  const td_catalog *catalog = world->state.catalog;
  uint32_t row = td_catalog_node_row(catalog, node);
  return td_world_run_at(world, td_catalog_place(catalog->node_places, row));
}

static inline td_graph_task_now *
td_world_graph_task(td_world *world, uint32_t graph_task) {
  const td_catalog *catalog = world->state.catalog;
  uint32_t row = td_catalog_graph_task_row(catalog, graph_task);
  return td_world_graph_task_at(world, td_catalog_place(catalog->graph_task_places, row));
}

/* td_world_set stores a word of an element that may be written, or of the header. */
static inline void
td_world_set(td_world *world, td_word *at, uint32_t value) {
  uintptr_t within = (uintptr_t)at % TD_STATE_PAGE_BYTES;
  uint32_t page = (uint32_t)((const td_state_page *)(const void *)((char *)at - within))->number;
  if (*at == value) return;
  if (!world->pages[page].dirty) {
    world->pages[page].dirty = true;
    world->dirty_pages[world->n_dirty++] = page;
  }
  if (world->journalling) {
    if (world->n_journal == world->journal_capacity) td_world_grow_journal(world);
    uint32_t word = page * TD_STATE_PAGE_WORDS + (uint32_t)(within / sizeof *at);
    world->journal[world->n_journal++] = (td_undo_word){word, *at};
  }
  *at = value;
}

static inline void
td_world_set_u64(td_world *world, uint64_t *at, uint64_t value) {
  uint32_t halves[2];
  __builtin_memcpy(halves, &value, sizeof value);
  td_world_set(world, (td_word *)at, halves[0]);
  td_world_set(world, (td_word *)at + 1, halves[1]);
}

/* td_world_undo takes journal entries back until `mark` are left. */
void td_world_undo(td_world *world, size_t mark);
