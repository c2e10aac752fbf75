/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tables in which the newest item wins a place: operations that wait for their node, and what
 * is known of nodes. */
#include "engine/probe/operations.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/probe/birth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define N_SLOTS 16384 /* a power of two: more in one step than a step can be read by */

typedef struct node_found {
  uint32_t node;
  unsigned found;
} node_found;

static struct {
  pthread_mutex_t mutex;
  td_operation *waiting;               /* (owned, guarded by mutex) [N_SLOTS]; thread 0: free */
  node_found *known;                   /* (owned, guarded by mutex) [N_SLOTS] */
  _Atomic uint32_t n_waiting, n_known; /* relaxed: a hint that saves the lock */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&table.mutex, TD_FORK_OPERATIONS);
}

/* Nodes of the walk that is under way, whose operations met a value that is not finite. */
typedef struct announced {
  uint32_t node;
  td_operation operation;
} announced;

static struct {
  announced *at; /* (owned) */
  size_t n, capacity;
} walk;

static td_operation *
waiting_slot(uint64_t thread, uint64_t sequence_nr) {
  return &table.waiting[(sequence_nr + thread * 0x9e3779b97f4a7c15u) & (N_SLOTS - 1)];
}

static bool
is_of(const td_operation *slot, uint64_t thread, uint64_t sequence_nr) {
  return slot->thread == thread && slot->sequence_nr == sequence_nr;
}

void
td_operations_note(const td_operation *operation, bool if_new) {
  pthread_mutex_lock(&table.mutex);
  if (!table.waiting) {
    table.waiting = TD_NEW_N(td_operation, N_SLOTS);
    table.known = TD_NEW_N(node_found, N_SLOTS);
  }
  td_operation *slot = waiting_slot(operation->thread, operation->sequence_nr);
  if (!slot->thread) atomic_fetch_add_explicit(&table.n_waiting, 1, memory_order_relaxed);
  if (!if_new || !is_of(slot, operation->thread, operation->sequence_nr)) *slot = *operation;
  pthread_mutex_unlock(&table.mutex);
}

static bool
take_waiting(uint32_t node, uint64_t thread, uint64_t sequence_nr, td_operation *out) {
  pthread_mutex_lock(&table.mutex);
  td_operation *slot = waiting_slot(thread, sequence_nr);
  bool is_it = is_of(slot, thread, sequence_nr);
  if (is_it) {
    *out = *slot;
    slot->thread = 0;
    atomic_fetch_sub_explicit(&table.n_waiting, 1, memory_order_relaxed);
    table.known[node & (N_SLOTS - 1)] = (node_found){node, slot->before | slot->after};
    atomic_store_explicit(&table.n_known, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&table.mutex);
  return is_it;
}

void
td_operations_announce(uint32_t node, uint64_t thread, uint64_t sequence_nr) {
  announced one = {.node = node};
  if (!atomic_load_explicit(&table.n_waiting, memory_order_relaxed)) return;
  if (!take_waiting(node, thread, sequence_nr, &one.operation)) return;
  TD_GROW(walk.at, walk.n, walk.capacity);
  walk.at[walk.n++] = one;
}

static int
compare_made(const void *first, const void *second) {
  const td_operation *a = &((const announced *)first)->operation;
  const td_operation *b = &((const announced *)second)->operation;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  return a->sequence_nr < b->sequence_nr ? -1 : a->sequence_nr > b->sequence_nr;
}

static void
tell_births(uint32_t node, const td_operation *operation) {
  td_birth birth = {.node = node, .graph_task = TD_NONE, .from = TD_NONE, .other = TD_NONE};
  birth.place = TD_birthplace_data;
  birth.number = operation->operand_nr;
  td_birth_note(operation->before & ~operation->came_in, operation->before, &birth);
  birth.place = TD_birthplace_forward;
  birth.number = operation->result_nr;
  td_birth_note(operation->before, operation->after, &birth);
}

void
td_operations_tell(void) {
  if (walk.n == 0) return;
  qsort(walk.at, walk.n, sizeof *walk.at, compare_made);
  for (size_t i = 0; i < walk.n; i++)
    tell_births(walk.at[i].node, &walk.at[i].operation);
  walk.n = 0;
}

unsigned
td_operations_found(uint32_t node) {
  if (!atomic_load_explicit(&table.n_known, memory_order_relaxed)) return 0;
  pthread_mutex_lock(&table.mutex);
  node_found slot = table.known[node & (N_SLOTS - 1)];
  pthread_mutex_unlock(&table.mutex);
  return slot.node == node ? slot.found : 0;
}

void
td_operations_forget_nodes(void) {
  walk.n = 0;
  free(table.known);
  table.known = table.waiting ? TD_NEW_N(node_found, N_SLOTS) : NULL;
  atomic_store(&table.n_known, 0);
}
