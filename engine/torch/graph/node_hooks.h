/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The hooks of nodes. A node's lists are made with its first hook; for a node without hooks, a pass
 * only reads one NULL pointer. Any thread. */
#pragma once

#include "engine/torch/graph/hooks.h"
#include "engine/torch/graph/node.h"

/* td_node_add_hook puts a hook that is in no list into a node's lists, which hold a reference. */
void td_node_add_hook(td_node *node, td_hook *hook, td_hook_kind kind, uint32_t input_nr);

/* td_node_add_leaf_hooks makes an AccumulateGrad call its leaf's hooks too (borrowed; they outlive
 * the node). */
void td_node_add_leaf_hooks(td_node *node, td_hooks *leaf);

/* td_node_has_hooks tells whether a node has hooks of one of these kinds: bits of TD_HOOKS. */
static inline bool
td_node_has_hooks(const td_node *node, unsigned kinds) {
  td_hooks *hooks = atomic_load_explicit(&((td_node *)node)->hooks, memory_order_acquire);
  return TD_UNLIKELY(hooks != NULL) && td_hooks_have(hooks, kinds);
}

/* td_node_call_hooks calls a node's hooks of these kinds, one after the other, on its gradients [n]
 * (owned references, in place): inputs, outputs, or the leaf. It calls `called`, if not NULL, after
 * each hook. Emits hook_begin and hook_end. The first failure ends it. */
typedef void (*td_hook_called)(const td_hook *hook, void *data);
td_status td_node_call_hooks(unsigned kinds, const td_hook_call *call, td_hook_called called,
                             void *data, td_error *error);
