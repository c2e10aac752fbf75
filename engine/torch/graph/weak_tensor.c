/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/weak_tensor.h"

#include "engine/base/alloc.h"

#include <pthread.h>

struct td_weak_tensor {
  td_refcount refs;
  pthread_mutex_t mutex; /* guards tensor */
  td_tensor *tensor;     /* (weak) or NULL: gone */
};

td_weak_tensor *
td_weak_tensor_new(td_tensor *tensor) {
  td_weak_tensor *weak = TD_NEW(td_weak_tensor);
  td_refcount_init(&weak->refs);
  pthread_mutex_init(&weak->mutex, NULL);
  weak->tensor = tensor;
  return weak;
}

td_weak_tensor *
td_weak_tensor_ref(td_weak_tensor *weak) {
  td_refcount_inc(&weak->refs);
  return weak;
}

void
td_weak_tensor_unref(td_weak_tensor *weak) {
  if (!weak || !td_refcount_dec(&weak->refs)) return;
  pthread_mutex_destroy(&weak->mutex);
  free(weak);
}

td_tensor *
td_weak_tensor_get(td_weak_tensor *weak) {
  pthread_mutex_lock(&weak->mutex);
  td_tensor *tensor = weak->tensor;
  if (tensor && !td_refcount_try_inc(&tensor->refs)) tensor = NULL;
  pthread_mutex_unlock(&weak->mutex);
  return tensor;
}

void
td_weak_tensor_clear(td_weak_tensor *weak) {
  pthread_mutex_lock(&weak->mutex);
  weak->tensor = NULL;
  pthread_mutex_unlock(&weak->mutex);
}
