/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/cuts.h"

#include "engine/base/forks.h"
#include "engine/base/number_map.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
  pthread_mutex_t mutex;
  td_number_map leaves;                     /* (guarded by mutex) flags, kind << 32 | stack */
  td_cut last;                              /* (guarded by mutex) */
  _Atomic uint32_t passes_left, notes_left; /* relaxed: one more or less does no harm */
  _Atomic bool missed;                      /* some cuts were not noted */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&table.mutex, TD_FORK_CUTS);
}

bool
td_cuts_wanted(void) {
  return atomic_load_explicit(&table.passes_left, memory_order_relaxed) != 0;
}

static void
count_down(_Atomic uint32_t *left) {
  uint32_t now = atomic_load_explicit(left, memory_order_relaxed);
  if (now) atomic_store_explicit(left, now - 1, memory_order_relaxed);
}

#define HAS_GRAPH (UINT64_C(1) << 63)
#define HAS_COPY (UINT64_C(1) << 62)
#define FLAGS (HAS_GRAPH | HAS_COPY)

static td_cut
cut_of(uint64_t value) {
  return (td_cut){(td_cut_kind)((value & ~FLAGS) >> 32), (uint32_t)value};
}

/* The smaller, the stronger. */
static int
rank_of(td_cut_kind kind) {
  switch (kind) {
  case TD_cut_kind_detach:
  case TD_cut_kind_data:
    return 0;
  case TD_cut_kind_item:
  case TD_cut_kind_numbers:
  case TD_cut_kind_argmax:
  case TD_cut_kind_compare:
  case TD_cut_kind_integer:
    return 1;
  case TD_cut_kind_none:
    return 3;
  default:
    return 2; /* no graph was made where the leaf was used */
  }
}

void
td_cuts_note(uint64_t leaf, td_cut cut) {
  pthread_mutex_lock(&table.mutex);
  table.last = cut;
  uint64_t *value = td_number_map_put(&table.leaves, leaf);
  if (rank_of(cut.kind) <= rank_of(cut_of(*value).kind))
    *value = (*value & FLAGS) | (uint64_t)cut.kind << 32 | cut.stack;
  count_down(&table.notes_left);
  pthread_mutex_unlock(&table.mutex);
  if (!atomic_load_explicit(&table.notes_left, memory_order_relaxed)) td_cuts_give_up();
}

void
td_cuts_note_graph(uint64_t leaf) {
  pthread_mutex_lock(&table.mutex);
  *td_number_map_put(&table.leaves, leaf) |= HAS_GRAPH;
  pthread_mutex_unlock(&table.mutex);
}

void
td_cuts_note_copy(uint64_t leaf) {
  pthread_mutex_lock(&table.mutex);
  *td_number_map_put(&table.leaves, leaf) |= HAS_COPY;
  pthread_mutex_unlock(&table.mutex);
}

void
td_cuts_note_copy_used(uint64_t leaf) {
  pthread_mutex_lock(&table.mutex);
  uint64_t *value = td_number_map_put(&table.leaves, leaf);
  bool is_copied = *value & HAS_COPY && rank_of(cut_of(*value).kind) == 2;
  if (!is_copied)
    *value |= HAS_GRAPH;
  else
    *value = (*value & FLAGS) | (uint64_t)TD_cut_kind_autocast << 32 | cut_of(*value).stack;
  pthread_mutex_unlock(&table.mutex);
}

void
td_cuts_give_up(void) {
  atomic_store_explicit(&table.missed, true, memory_order_relaxed);
  atomic_store_explicit(&table.passes_left, 0, memory_order_relaxed);
}

td_cut
td_cuts_find(uint64_t leaf) {
  pthread_mutex_lock(&table.mutex);
  const uint64_t *value = td_number_map_find(&table.leaves, leaf);
  bool missed = atomic_load_explicit(&table.missed, memory_order_relaxed);
  td_cut cut = {missed ? TD_cut_kind_unseen : TD_cut_kind_none, 0};
  if (value && !missed) cut = cut_of(*value);
  if (value && *value & HAS_GRAPH && rank_of(cut.kind) == 2 && cut.kind != TD_cut_kind_unseen)
    cut = (td_cut){TD_cut_kind_none, 0};
  pthread_mutex_unlock(&table.mutex);
  return cut;
}

td_cut
td_cuts_last(void) {
  pthread_mutex_lock(&table.mutex);
  bool missed = atomic_load_explicit(&table.missed, memory_order_relaxed);
  td_cut cut = missed ? (td_cut){TD_cut_kind_none, 0} : table.last;
  pthread_mutex_unlock(&table.mutex);
  return cut;
}

void
td_cuts_begin(void) {
  pthread_mutex_lock(&table.mutex);
  td_number_map_fini(&table.leaves);
  table.last = (td_cut){TD_cut_kind_none, 0};
  pthread_mutex_unlock(&table.mutex);
  atomic_store_explicit(&table.missed, false, memory_order_relaxed);
  atomic_store_explicit(&table.notes_left, TD_CUTS_NOTED, memory_order_relaxed);
  atomic_store_explicit(&table.passes_left, TD_CUTS_PASSES, memory_order_relaxed);
}

void
td_cuts_end_pass(void) {
  count_down(&table.passes_left);
}
