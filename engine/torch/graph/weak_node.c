/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/weak_node.h"

#include "engine/base/alloc.h"

#include <pthread.h>

struct td_weak_node {
  td_refcount refs;
  pthread_mutex_t mutex; /* guards node */
  void *node;            /* (weak) or NULL: gone */
  td_refcount *node_refs;
};

static td_weak_node *
weak_new(void *node, td_refcount *refs) {
  td_weak_node *weak = TD_NEW(td_weak_node);
  td_refcount_init(&weak->refs);
  pthread_mutex_init(&weak->mutex, NULL);
  weak->node = node;
  weak->node_refs = refs;
  return weak;
}

/* Two threads may make it at once: the first one's holds. */
td_weak_node *
td_weak_node_of(td_weak_slot *slot, void *node, td_refcount *refs) {
  td_weak_node *weak = atomic_load(slot);
  if (!weak) {
    td_weak_node *fresh = weak_new(node, refs);
    if (atomic_compare_exchange_strong(slot, &weak, fresh))
      weak = fresh;
    else
      td_weak_node_unref(fresh);
  }
  td_refcount_inc(&weak->refs);
  return weak;
}

void *
td_weak_node_get(td_weak_node *weak) {
  pthread_mutex_lock(&weak->mutex);
  void *node = weak->node;
  if (node && !td_refcount_try_inc(weak->node_refs)) node = NULL;
  pthread_mutex_unlock(&weak->mutex);
  return node;
}

void
td_weak_node_unref(td_weak_node *weak) {
  if (!weak || !td_refcount_dec(&weak->refs)) return;
  pthread_mutex_destroy(&weak->mutex);
  free(weak);
}

void
td_weak_node_clear(td_weak_slot *slot) {
  td_weak_node *weak = atomic_load_explicit(slot, memory_order_relaxed);
  if (!weak) return;
  pthread_mutex_lock(&weak->mutex);
  weak->node = NULL;
  pthread_mutex_unlock(&weak->mutex);
  td_weak_node_unref(weak);
}
