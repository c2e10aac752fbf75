/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/queue_list.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"

#include <pthread.h>

typedef struct entry {
  struct td_ready_queue *queue; /* (borrowed) */
  uint32_t id;
} entry;

static struct {
  pthread_mutex_t mutex;
  entry *entries; /* (owned) */
  size_t n, capacity;
} list = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_guard(&list.mutex, TD_FORK_QUEUES);
}

void
td_queue_list_add(struct td_ready_queue *queue, uint32_t id) {
  pthread_mutex_lock(&list.mutex);
  TD_GROW(list.entries, list.n, list.capacity);
  list.entries[list.n++] = (entry){queue, id};
  pthread_mutex_unlock(&list.mutex);
}

void
td_queue_list_remove(struct td_ready_queue *queue) {
  pthread_mutex_lock(&list.mutex);
  for (size_t i = 0; i < list.n; i++)
    if (list.entries[i].queue == queue) list.entries[i--] = list.entries[--list.n];
  pthread_mutex_unlock(&list.mutex);
}

struct td_ready_queue *
td_queue_list_borrow(uint32_t id) {
  pthread_mutex_lock(&list.mutex);
  for (size_t i = 0; i < list.n; i++)
    if (list.entries[i].id == id) return list.entries[i].queue;
  return NULL;
}

void
td_queue_list_return(void) {
  pthread_mutex_unlock(&list.mutex);
}
