/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/contributions.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/events/event.h"

#include <pthread.h>

#define N_BUCKETS 4096 /* a power of two */

/* Lists by node. base/hash_index.h does not fit: a list has many items of one key, and they leave.
 */
static struct {
  pthread_mutex_t mutex;
  td_contribution *buckets[N_BUCKETS]; /* (owned, guarded by mutex) oldest first */
  td_contribution *spare;              /* (owned, guarded by mutex) */
  uint64_t n;                          /* in the buckets (guarded by mutex) */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&table.mutex, TD_FORK_CONTRIBUTIONS);
}

static td_contribution **
bucket_of(uint32_t graph_task, uint32_t node) {
  return &table.buckets[(node * 0x9e3779b9u + graph_task) & (N_BUCKETS - 1)];
}

td_contribution *
td_contribution_add(const td_contribution *contribution) {
  pthread_mutex_lock(&table.mutex);
  td_contribution *made = table.spare;
  if (made)
    table.spare = made->next;
  else
    made = TD_NEW(td_contribution);
  *made = *contribution;
  made->next = NULL;
  td_contribution **end = bucket_of(made->graph_task, made->node);
  while (*end)
    end = &(*end)->next;
  *end = made;
  table.n++;
  pthread_mutex_unlock(&table.mutex);
  return made;
}

/* Moves the contributions of a graph task (TD_NONE: any) to a node (TD_NONE: any) from one list to
 * another. */
static void
move_locked(td_contribution **from, uint32_t graph_task, uint32_t node, td_contribution **to) {
  while (*from) {
    td_contribution *here = *from;
    if ((graph_task != TD_NONE && here->graph_task != graph_task) ||
        (node != TD_NONE && here->node != node)) {
      from = &here->next;
      continue;
    }
    *from = here->next;
    here->next = NULL;
    table.n--;
    *to = here;
    to = &here->next;
  }
}

td_contribution *
td_contributions_take(uint32_t graph_task, uint32_t node) {
  td_contribution *taken = NULL;
  pthread_mutex_lock(&table.mutex);
  move_locked(bucket_of(graph_task, node), graph_task, node, &taken);
  pthread_mutex_unlock(&table.mutex);
  return taken;
}

static void
free_locked(td_contribution *list) {
  while (list) {
    td_contribution *next = list->next;
    list->next = table.spare;
    table.spare = list;
    list = next;
  }
}

void
td_contributions_free(td_contribution *list) {
  if (!list) return;
  pthread_mutex_lock(&table.mutex);
  free_locked(list);
  pthread_mutex_unlock(&table.mutex);
}

void
td_contributions_drop(uint32_t graph_task) {
  pthread_mutex_lock(&table.mutex);
  for (int i = 0; table.n && i < N_BUCKETS; i++) {
    td_contribution *dropped = NULL;
    if (table.buckets[i]) move_locked(&table.buckets[i], graph_task, TD_NONE, &dropped);
    free_locked(dropped);
  }
  pthread_mutex_unlock(&table.mutex);
}
