/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/inference.h"

#include "engine/torch/graph/thread_locals.h"
#include "engine/torch/tensor/tensor.h"

void
td_inference_mode_enter(bool enabled) {
  if (td_inference_mode() == enabled) return;
  td_inference_mode_set(enabled);
  td_thread_local_changed();
}

static void *
save(void) {
  static char set;
  return td_inference_mode() ? &set : NULL;
}

static void
install(void *value) {
  td_inference_mode_set(value != NULL);
}

__attribute__((constructor)) static void
add_class(void) {
  static const td_thread_local_class klass = {save, install, NULL};
  td_thread_local_add(&klass);
}
