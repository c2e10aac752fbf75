/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/version.h"

static _Atomic uint32_t n_counters;
static uint32_t (*stack_now)(void);

void
td_version_set_stack(uint32_t (*stack)(void)) {
  stack_now = stack;
}

uint32_t
td_version_stack(void) {
  return stack_now ? stack_now() : 0;
}

/* Two threads may number a counter at once: the first one's number holds. */
uint32_t
td_tensor_counter_id(const td_tensor *tensor) {
  _Atomic uint32_t *id = &td_tensor_counter(tensor)->id;
  uint32_t old = atomic_load_explicit(id, memory_order_relaxed);
  if (old) return old;
  uint32_t fresh = atomic_fetch_add_explicit(&n_counters, 1, memory_order_relaxed) + 1;
  return atomic_compare_exchange_strong(id, &old, fresh) ? fresh : old;
}

uint32_t
td_tensor_count_up(td_tensor *tensor, const char *operation) {
  if (tensor->is_inference) return 0;
  td_version *version = td_tensor_counter(tensor);
  atomic_store_explicit(&version->operation, operation, memory_order_relaxed);
  return atomic_fetch_add_explicit(&version->count, 1, memory_order_release) + 1;
}

void
td_tensor_announce_write(const td_tensor *tensor, uint32_t version, const char *operation,
                         const td_node *node) {
  if (!td_recording() || tensor->is_inference) return;
  TD_EMIT(tensor_write, .counter = td_tensor_counter_id(tensor), .version = version,
          .operation = td_intern_static(operation), .node = node ? td_node_id(node) : TD_NONE,
          .stack = td_version_stack());
}

void
td_tensor_bump_by(td_tensor *tensor, const char *operation, const td_node *node) {
  uint32_t version = td_tensor_count_up(tensor, operation);
  td_tensor_announce_write(tensor, version, operation, node);
}

void
td_tensor_bump(td_tensor *tensor, const char *operation) {
  td_tensor_bump_by(tensor, operation, NULL);
}
