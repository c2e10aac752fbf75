/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * World: a state that can be written, private to engine/replay. Every write goes through
 * td_world_set. It marks the page as changed, for checkpoints. While a journal is kept, it also
 * notes the old word there, for undo. So an applier of events need not know how to undo them.
 * One thread. */
#pragma once

#include "engine/replay/state.h"

/* Checkpoints copy this much at a time. */
#define TD_WORLD_PAGE_SHIFT 12
#define TD_WORLD_PAGE_BYTES ((size_t)1 << TD_WORLD_PAGE_SHIFT)

/* A 32-bit word of the block, whatever members lie in it. */
typedef uint32_t __attribute__((may_alias)) td_word;

typedef struct td_undo_word {
  uint32_t word; /* number of the 32-bit word in the block */
  uint32_t old;
} td_undo_word;

typedef struct td_world {
  td_state state; /* (owned) its block */
  const td_catalog *catalog;
  uint32_t n_tasks, n_arrivals, n_entries; /* room */
  size_t n_pages, n_initial_pages; /* of the block; those of them that do not begin as zeros */

  bool journalling;
  td_undo_word *journal; /* (owned) */
  size_t n_journal, journal_capacity;

  uint8_t *dirty;        /* (owned) [n_pages] */
  uint32_t *dirty_pages; /* (owned) [n_pages] the pages with dirty set */
  size_t n_dirty;

  bool troubled; /* the event being applied contradicts the state */
} td_world;

/* td_world_init reserves a state for the catalog, before the first event. TD_OUT_OF_MEMORY. */
td_status td_world_init(td_world *world, const td_catalog *catalog, const td_tape_info *info,
                        td_error *error);
void td_world_fini(td_world *world);

/* td_world_grow_journal is td_world_set's slow path. */
void td_world_grow_journal(td_world *world);

/* td_world_set stores a word of the block. */
static inline void
td_world_set(td_world *world, td_word *at, uint32_t value) {
  size_t word = (size_t)(at - (td_word *)(void *)world->state.bytes);
  size_t page = word >> (TD_WORLD_PAGE_SHIFT - 2);
  if (*at == value) return;
  if (!world->dirty[page]) {
    world->dirty[page] = 1;
    world->dirty_pages[world->n_dirty++] = (uint32_t)page;
  }
  if (world->journalling) {
    if (world->n_journal == world->journal_capacity) td_world_grow_journal(world);
    world->journal[world->n_journal++] = (td_undo_word){(uint32_t)word, *at};
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

/* td_apply_event applies one event: only this function changes the state. An event that
 * contradicts the state sets world->troubled. NULL: an event that
 * cannot be read. */
void td_apply_event(td_world *world, const td_any_event *event);
