/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tables in which the newest item wins a place: operations that wait for their node, and what
 * is known of nodes. */
#include "engine/probe/operations.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/base/number_map.h"
#include "engine/base/numbers.h"
#include "engine/events/emit.h"
#include "engine/probe/birth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ROUNDS_MAX 100
#define STORED_MAX 100000 /* leaves */
#define N_SLOTS 16384     /* a power of two: more in one step than a step can be read by */

typedef struct node_found {
  uint32_t node;
  unsigned found;
} node_found;

static struct {
  pthread_mutex_t mutex;
  td_operation *waiting;               /* (owned, guarded by mutex) [N_SLOTS]; thread 0: free */
  node_found *known;                   /* (owned, guarded by mutex) [N_SLOTS] */
  td_number_map stored;                /* (guarded by mutex) leaves: 1 + the node that stored */
  _Atomic uint32_t n_waiting, n_known; /* relaxed: a hint that saves the lock */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&table.mutex, TD_FORK_OPERATIONS);
}

/* Nodes of the walk that is under way, whose operations met a value that is not finite. */
typedef struct announced {
  uint32_t node;
  uint32_t leaf, leaf_nr; /* AccumulateGrad of the leaf at that operand, or TD_NONE */
  uint64_t leaf_number;
  td_operation operation;
} announced;

/* A value that is not finite went from one operation to another. */
typedef struct hand_over {
  uint32_t from, to;
  unsigned found;
} hand_over;

static struct {
  announced *at; /* (owned) */
  size_t n, capacity;
  hand_over *hand_overs; /* (owned) */
  size_t n_hand_overs, hand_overs_capacity;
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

const td_operation *
td_operations_announce(uint32_t node, uint64_t thread, uint64_t sequence_nr) {
  announced one = {.node = node, .leaf = TD_NONE};
  if (!atomic_load_explicit(&table.n_waiting, memory_order_relaxed)) return NULL;
  if (!take_waiting(node, thread, sequence_nr, &one.operation)) return NULL;
  TD_GROW(walk.at, walk.n, walk.capacity);
  walk.at[walk.n++] = one;
  return &walk.at[walk.n - 1].operation;
}

bool
td_operations_has_birth(const td_operation *operation) {
  return td_numbers_born(operation->before & ~operation->came_in,
                         operation->before | operation->after) &
         td_births_wanted;
}

/* A node may have several edges to another: it hands over once. */
void
td_operations_edge(uint32_t to, uint64_t thread, uint64_t number) {
  announced *self = &walk.at[walk.n - 1];
  const hand_over *last = walk.n_hand_overs ? &walk.hand_overs[walk.n_hand_overs - 1] : NULL;
  for (uint32_t i = 0; i < self->operation.n_operands; i++) {
    const td_operand *operand = &self->operation.operands[i];
    if (operand->thread != thread || operand->number != number) continue;
    if (!thread && self->leaf == TD_NONE) {
      self->leaf = to;
      self->leaf_nr = operand->nr;
      self->leaf_number = number;
    }
    if (last && last->from == to && last->to == self->node) return;
    TD_GROW(walk.hand_overs, walk.n_hand_overs, walk.hand_overs_capacity);
    walk.hand_overs[walk.n_hand_overs++] = (hand_over){to, self->node, operand->found};
    return;
  }
}

void
td_operations_stored(uint64_t leaf, uint32_t node) {
  pthread_mutex_lock(&table.mutex);
  if (table.stored.n < STORED_MAX || td_number_map_find(&table.stored, leaf))
    *td_number_map_put(&table.stored, leaf) = 1 + (uint64_t)node;
  pthread_mutex_unlock(&table.mutex);
}

static uint32_t
find_stored(uint64_t leaf) {
  pthread_mutex_lock(&table.mutex);
  const uint64_t *found = td_number_map_find(&table.stored, leaf);
  uint32_t node = found ? (uint32_t)(*found - 1) : TD_NONE;
  pthread_mutex_unlock(&table.mutex);
  return node;
}

static int
compare_made(const void *first, const void *second) {
  const td_operation *a = &((const announced *)first)->operation;
  const td_operation *b = &((const announced *)second)->operation;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  return a->sequence_nr < b->sequence_nr ? -1 : a->sequence_nr > b->sequence_nr;
}

static unsigned
found_in_leaves(const td_operation *operation) {
  unsigned found = 0;
  for (uint32_t i = 0; i < operation->n_operands; i++)
    if (!operation->operands[i].thread) found |= operation->operands[i].found;
  return found;
}

static void
tell_births(const announced *self, bool handed_on) {
  const td_operation *operation = &self->operation;
  unsigned in_leaves = found_in_leaves(operation), came_in = operation->came_in | in_leaves;
  unsigned before = operation->before & ~came_in;
  td_birth birth = {.node = self->node, .graph_task = TD_NONE, .from = TD_NONE, .other = TD_NONE};
  birth.absorbed = !handed_on;
  if (operation->came_in) {
    birth.place = TD_birthplace_data;
    birth.number = operation->operand_nr;
    td_birth_note(before, before | operation->came_in, &birth);
  }
  if (in_leaves && self->leaf != TD_NONE) {
    birth.place = TD_birthplace_parameter;
    birth.number = self->leaf_nr;
    birth.from = self->leaf;
    birth.other = find_stored(self->leaf_number);
    td_birth_note(before | operation->came_in, operation->before, &birth);
    birth.from = birth.other = TD_NONE;
  }
  birth.place = TD_birthplace_forward;
  birth.number = operation->result_nr;
  td_birth_note(operation->before, operation->after, &birth);
}

static void
tell_hand_overs(void) {
  for (size_t i = 0; i < walk.n_hand_overs; i++) {
    const hand_over *at = &walk.hand_overs[i];
    TD_EMIT(carried, .node = at->to, .graph_task = TD_NONE, .from = at->from,
            .nan = (at->found & TD_NUMBERS_NAN) != 0, .inf = (at->found & TD_NUMBERS_INF) != 0);
  }
}

/* Whose values reach the root. A walk meets most nodes after those that they gave a value. */
static bool
spread(td_number_map *handed_on) {
  bool has_spread = false;
  for (size_t i = 0; i < walk.n_hand_overs; i++) {
    const hand_over *at = &walk.hand_overs[i];
    if (!td_number_map_find(handed_on, at->to) || td_number_map_find(handed_on, at->from)) continue;
    *td_number_map_put(handed_on, at->from) = 1;
    has_spread = true;
  }
  return has_spread;
}

void
td_operations_tell(uint32_t root) {
  if (walk.n == 0) return;
  td_number_map handed_on = {0};
  *td_number_map_put(&handed_on, root) = 1;
  for (int i = 0; i < ROUNDS_MAX && spread(&handed_on); i++) {
  }
  tell_hand_overs();
  qsort(walk.at, walk.n, sizeof *walk.at, compare_made);
  for (size_t i = 0; i < walk.n; i++)
    tell_births(&walk.at[i], td_number_map_find(&handed_on, walk.at[i].node) != NULL);
  td_number_map_fini(&handed_on);
  walk.n = walk.n_hand_overs = 0;
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
  walk.n = walk.n_hand_overs = 0;
  free(table.known);
  td_number_map_fini(&table.stored);
  table.known = table.waiting ? TD_NEW_N(node_found, N_SLOTS) : NULL;
  atomic_store(&table.n_known, 0);
}
