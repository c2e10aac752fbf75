/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/ids.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/event.h"

#include <pthread.h>
#include <stdatomic.h>

/* An address stays in its slot when its id is taken away: memory is reused, and the next node often
 * lives where the last one did. Growing leaves such slots behind. */
typedef struct slot {
  _Atomic(const void *) address;
  _Atomic uint32_t id;
} slot;

/* Atomics: an address is stored with release after its id and loaded with acquire before it; the
 * table likewise after it is filled. */
typedef struct table {
  struct table *before; /* (owned) outgrown, but a reader may still be in it */
  size_t n_slots;       /* a power of two */
  size_t n_used;        /* slots with an address (guarded by mutex) */
  slot slots[];
} table;

struct td_ids {
  _Atomic(table *) table;
  pthread_mutex_t mutex; /* guards writing */
  _Atomic uint32_t n_alive;
};

#define SLOTS_AT_FIRST 4096

static table *
table_new(size_t n_slots, table *before) {
  table *made = td_alloc(1, sizeof *made + n_slots * sizeof(slot));
  made->n_slots = n_slots;
  made->before = before;
  return made;
}

td_ids *
td_ids_new(void) {
  td_ids *ids = TD_NEW(td_ids);
  pthread_mutex_init(&ids->mutex, NULL);
  td_fork_guard(&ids->mutex, TD_FORK_IDS);
  atomic_init(&ids->table, table_new(SLOTS_AT_FIRST, NULL));
  return ids;
}

/* Nodes are made one after another, and walked so: slots in the order of the addresses are found in
 * the cache. What lies in other regions of memory is put elsewhere. */
static size_t
first_slot(const table *table, const void *address) {
  uintptr_t at = (uintptr_t)address;
  return (at >> 8 ^ (at >> 28) * 0x9e3779b97f4a7c15u >> 20) & (table->n_slots - 1);
}

uint32_t
td_ids_find(const td_ids *ids, const void *address) {
  const table *table = atomic_load_explicit(&ids->table, memory_order_acquire);
  for (size_t at = first_slot(table, address);; at = (at + 1) & (table->n_slots - 1)) {
    const slot *here = &table->slots[at];
    const void *there = atomic_load_explicit(&here->address, memory_order_acquire);
    if (there == address) return atomic_load_explicit(&here->id, memory_order_relaxed);
    if (!there) return TD_NONE;
  }
}

/* The slot of an address, or the free one where it belongs. */
static slot *
find_slot_locked(table *table, const void *address) {
  size_t at = first_slot(table, address);
  for (;; at = (at + 1) & (table->n_slots - 1)) {
    slot *here = &table->slots[at];
    const void *there = atomic_load_explicit(&here->address, memory_order_relaxed);
    if (there == address || !there) return here;
  }
}

static void
fill_slot(table *table, const void *address, uint32_t id) {
  slot *free = find_slot_locked(table, address);
  atomic_store_explicit(&free->id, id, memory_order_relaxed);
  atomic_store_explicit(&free->address, address, memory_order_release);
  table->n_used++;
}

/* The outgrown table is used again where its size is right: a reader that has been in there since
 * may miss an address, but reads no freed memory. */
static table *
obtain_table(table *old, size_t n_slots) {
  table *before = old->before;
  if (!before || before->n_slots != n_slots) return table_new(n_slots, old);
  for (size_t i = 0; i < n_slots; i++)
    atomic_store_explicit(&before->slots[i].address, NULL, memory_order_relaxed);
  old->before = before->before;
  before->before = old;
  before->n_used = 0;
  return before;
}

/* A table of the size that the living need, with them alone. */
static table *
grow_locked(td_ids *ids, table *old) {
  size_t n_alive = 0;
  for (size_t i = 0; i < old->n_slots; i++)
    n_alive += old->slots[i].address && old->slots[i].id != TD_NONE;
  table *larger = obtain_table(old, n_alive * 4 > old->n_slots ? old->n_slots * 2 : old->n_slots);
  for (size_t i = 0; i < old->n_slots; i++)
    if (old->slots[i].address && old->slots[i].id != TD_NONE)
      fill_slot(larger, old->slots[i].address, old->slots[i].id);
  atomic_store_explicit(&ids->table, larger, memory_order_release);
  return larger;
}

uint32_t
td_ids_set(td_ids *ids, const void *address, uint32_t id) {
  pthread_mutex_lock(&ids->mutex);
  table *table = atomic_load_explicit(&ids->table, memory_order_relaxed);
  slot *found = find_slot_locked(table, address);
  uint32_t before = TD_NONE;
  if (atomic_load_explicit(&found->address, memory_order_relaxed)) {
    before = atomic_exchange_explicit(&found->id, id, memory_order_relaxed);
  } else if (id != TD_NONE) {
    if (2 * (table->n_used + 1) > table->n_slots) table = grow_locked(ids, table);
    fill_slot(table, address, id);
  }
  int change = (id != TD_NONE) - (before != TD_NONE);
  if (change) atomic_fetch_add_explicit(&ids->n_alive, (uint32_t)change, memory_order_relaxed);
  pthread_mutex_unlock(&ids->mutex);
  return before;
}

void
td_ids_clear(td_ids *ids) {
  for (table *old = atomic_load(&ids->table), *before; old; old = before) {
    before = old->before;
    free(old);
  }
  atomic_store(&ids->table, table_new(SLOTS_AT_FIRST, NULL));
  atomic_store(&ids->n_alive, 0);
}

uint32_t
td_ids_n_alive(const td_ids *ids) {
  return atomic_load_explicit(&ids->n_alive, memory_order_relaxed);
}
