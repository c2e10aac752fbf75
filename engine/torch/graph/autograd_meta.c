/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/autograd_meta.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/node.h"

static void
meta_free_cb(td_tensor *tensor) {
  td_autograd_meta *meta = tensor->autograd;
  if (meta->weak) td_weak_tensor_clear(meta->weak);
  td_weak_tensor_unref(meta->weak);
  td_hook_unref(meta->retained);
  td_hooks_free(meta->hooks);
  td_node_unref(meta->hooked);
  tensor->autograd = NULL;
  td_node_unref(meta->grad_fn);
  td_node_unref(meta->held_accumulator);
  td_tensor_unref(meta->grad);
  pthread_mutex_destroy(&meta->mutex);
  free(meta->name);
  free(meta);
}

td_autograd_meta *
td_autograd_meta_get(td_tensor *tensor) {
  if (!tensor->autograd) {
    tensor->autograd = TD_NEW(td_autograd_meta);
    tensor->autograd_free = meta_free_cb;
    pthread_mutex_init(&tensor->autograd->mutex, NULL);
  }
  return tensor->autograd;
}
