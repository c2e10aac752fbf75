/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/ids.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/event.h"

#include <pthread.h>
#include <stdatomic.h>

/* An address stays in its slot when its id is taken away: memory is reused, and the next node often
 * lives where the last one did. Another address may take the slot over. */
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
  /* Odd while a slot passes from one address to another, or a table is filled again. A reader that
   * finds the number odd or changed may have read half of that: it looks again under the mutex. */
  _Atomic uint32_t changes;
  _Atomic uint32_t n_alive;
  pthread_mutex_t mutex; /* guards writing */
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

/* Nodes are made one after another, and walked so: those of one page of memory are neighbours in
 * the table, and in the cache. The pages are scattered over the table. In the order of addresses, a
 * program's heap would fill one region of it, and each search there would be long. */
static size_t
first_slot(const table *table, const void *address) {
  uint64_t at = (uintptr_t)address, page = (at >> 12) * 0x9e3779b97f4a7c15u;
  return (page >> 32 << 3 | (at >> 9 & 7)) & (table->n_slots - 1);
}

/* The slot of an address, or the empty one where its search ends. */
static slot *
find_slot(table *table, const void *address) {
  for (size_t at = first_slot(table, address);; at = (at + 1) & (table->n_slots - 1)) {
    slot *here = &table->slots[at];
    const void *there = atomic_load_explicit(&here->address, memory_order_acquire);
    if (there == address || !there) return here;
  }
}

static uint32_t
look_up(table *table, const void *address) {
  slot *found = find_slot(table, address);
  /* An empty slot may have got another address by now. */
  bool is_its = atomic_load_explicit(&found->address, memory_order_acquire) == address;
  return is_its ? atomic_load_explicit(&found->id, memory_order_acquire) : TD_NONE;
}

static uint32_t
look_up_alone(td_ids *ids, const void *address) {
  pthread_mutex_lock(&ids->mutex);
  uint32_t id = look_up(atomic_load_explicit(&ids->table, memory_order_relaxed), address);
  pthread_mutex_unlock(&ids->mutex);
  return id;
}

uint32_t
td_ids_find(td_ids *ids, const void *address) {
  uint32_t changes = atomic_load_explicit(&ids->changes, memory_order_acquire);
  uint32_t id = look_up(atomic_load_explicit(&ids->table, memory_order_acquire), address);
  if (changes % 2 == 0 && atomic_load_explicit(&ids->changes, memory_order_relaxed) == changes)
    return id;
  return look_up_alone(ids, address);
}

static void
change_locked(td_ids *ids) {
  uint32_t changes = atomic_load_explicit(&ids->changes, memory_order_relaxed);
  atomic_store_explicit(&ids->changes, changes + 1, memory_order_release);
}

static void
fill_slot(slot *free, const void *address, uint32_t id) {
  atomic_store_explicit(&free->id, id, memory_order_release);
  atomic_store_explicit(&free->address, address, memory_order_release);
}

/* The outgrown table is used again if it has the right size. */
static table *
obtain_table(table *old, size_t n_slots) {
  table *before = old->before;
  if (!before || before->n_slots != n_slots) return table_new(n_slots, old);
  for (size_t i = 0; i < n_slots; i++)
    atomic_store_explicit(&before->slots[i].address, NULL, memory_order_release);
  old->before = before->before;
  before->before = old;
  before->n_used = 0;
  return before;
}

/* A table of the size that the living need, with them alone. */
static table *
grow_locked(td_ids *ids, table *old) {
  size_t n_alive = atomic_load_explicit(&ids->n_alive, memory_order_relaxed);
  change_locked(ids);
  table *larger = obtain_table(old, n_alive * 4 > old->n_slots ? old->n_slots * 2 : old->n_slots);
  for (slot *here = old->slots; here < old->slots + old->n_slots; here++) {
    if (!here->address || here->id == TD_NONE) continue;
    fill_slot(find_slot(larger, here->address), here->address, here->id);
    larger->n_used++;
  }
  atomic_store_explicit(&ids->table, larger, memory_order_release);
  change_locked(ids);
  return larger;
}

/* The first slot on an address's way that no address needs any more, or NULL. */
static slot *
find_abandoned(table *table, const void *address, const slot *end) {
  for (size_t at = first_slot(table, address);; at = (at + 1) & (table->n_slots - 1)) {
    slot *here = &table->slots[at];
    if (here == end) return NULL;
    if (atomic_load_explicit(&here->id, memory_order_relaxed) == TD_NONE) return here;
  }
}

static void
add_locked(td_ids *ids, table *table, slot *empty, const void *address, uint32_t id) {
  slot *abandoned = find_abandoned(table, address, empty);
  if (abandoned) {
    change_locked(ids);
    fill_slot(abandoned, address, id);
    change_locked(ids);
    return;
  }
  if (2 * (table->n_used + 1) > table->n_slots) {
    table = grow_locked(ids, table);
    empty = find_slot(table, address);
  }
  fill_slot(empty, address, id);
  table->n_used++;
}

uint32_t
td_ids_set(td_ids *ids, const void *address, uint32_t id) {
  pthread_mutex_lock(&ids->mutex);
  table *table = atomic_load_explicit(&ids->table, memory_order_relaxed);
  slot *found = find_slot(table, address);
  uint32_t before = TD_NONE;
  if (atomic_load_explicit(&found->address, memory_order_relaxed)) {
    before = atomic_load_explicit(&found->id, memory_order_relaxed);
    atomic_store_explicit(&found->id, id, memory_order_release);
  } else if (id != TD_NONE) {
    add_locked(ids, table, found, address, id);
  }
  uint32_t n_alive = atomic_load_explicit(&ids->n_alive, memory_order_relaxed);
  n_alive += (id != TD_NONE) - (before != TD_NONE);
  atomic_store_explicit(&ids->n_alive, n_alive, memory_order_relaxed);
  pthread_mutex_unlock(&ids->mutex);
  return before;
}

/* Addresses stay in their slots: a reader may be there. */
void
td_ids_clear(td_ids *ids) {
  pthread_mutex_lock(&ids->mutex);
  table *table = atomic_load_explicit(&ids->table, memory_order_relaxed);
  for (slot *here = table->slots; here < table->slots + table->n_slots; here++)
    atomic_store_explicit(&here->id, TD_NONE, memory_order_release);
  atomic_store_explicit(&ids->n_alive, 0, memory_order_relaxed);
  pthread_mutex_unlock(&ids->mutex);
}

uint32_t
td_ids_n_alive(const td_ids *ids) {
  return atomic_load_explicit(&ids->n_alive, memory_order_relaxed);
}
