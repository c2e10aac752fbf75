/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/node_hooks.h"

#include "engine/base/alloc.h"
#include "engine/events/core_waits.h"

/* A node's lists, made by whoever needs them first. */
static td_hooks *
hooks_of(td_node *node) {
  td_hooks *hooks = atomic_load_explicit(&node->hooks, memory_order_acquire);
  if (hooks) return hooks;
  td_hooks *made = td_hooks_new();
  if (atomic_compare_exchange_strong_explicit(&node->hooks, &hooks, made, memory_order_acq_rel,
                                              memory_order_acquire))
    return made;
  td_hooks_free(made);
  return hooks;
}

void
td_node_add_hook(td_node *node, td_hook *hook, td_hook_kind kind, uint32_t input_nr) {
  td_hooks_add(hooks_of(node), hook, kind, input_nr);
}

void
td_node_add_leaf_hooks(td_node *node, td_hooks *leaf) {
  td_hooks_set_leaf(hooks_of(node), leaf);
}

static td_status
call_one(td_hook *hook, const td_hook_call *call, td_error *error) {
  td_hook_call own = *call;
  if (1u << hook->kind & TD_HOOKS_OF_TENSORS) {
    if (hook->input_nr >= call->n) return TD_OK;
    own.gradients += hook->input_nr;
    own.n = 1;
  }
  uint32_t owner = td_recording() ? td_intern(hook->owner) : 0;
  uint64_t began = td_recording() ? td_clock_now() : 0;
  TD_EMIT_AT(began, hook_begin, .node = td_node_id(call->node), .kind = hook->kind, .owner = owner);
  td_status status = hook->call(hook, &own, error);
  td_core_look_since(began);
  TD_EMIT(hook_end, .node = td_node_id(call->node), .kind = hook->kind);
  return status;
}

td_status
td_node_call_hooks(unsigned kinds, const td_hook_call *call, td_hook_called called, void *data,
                   td_error *error) {
  td_hooks *hooks = atomic_load_explicit(&call->node->hooks, memory_order_acquire);
  td_status status = TD_OK;
  size_t n = 0;
  td_hook **held = hooks ? td_hooks_hold(hooks, kinds, &n) : NULL;
  for (size_t i = 0; i < n; i++) {
    if (!status) {
      status = call_one(held[i], call, error);
      if (called) called(held[i], data);
    }
    td_hook_unref(held[i]);
  }
  free(held);
  return status;
}
