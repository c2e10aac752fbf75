/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Version counters: how often elements were written in place. Views and detach() share their
 * tensor's, `.data` has one of its own, and inference tensors have none. What was saved for
 * backward notes the version it had (saved_variable.h). Any thread. */
#pragma once

#include "engine/torch/graph/node.h"

static inline td_version *
td_tensor_counter(const td_tensor *tensor) {
  return tensor->own_version ? &tensor->own_version->version : &tensor->storage->version;
}

static inline uint32_t
td_tensor_version(const td_tensor *tensor) {
  return atomic_load_explicit(&td_tensor_counter(tensor)->count, memory_order_acquire);
}

/* Every operation that wrote into a tensor calls td_tensor_bump, whatever the grad mode:
 * `operation` is a literal, "add_". td_tensor_bump_by names the operation's node besides (NULL: it
 * has none). Emits tensor_write. */
void td_tensor_bump(td_tensor *tensor, const char *operation);
void td_tensor_bump_by(td_tensor *tensor, const char *operation, const td_node *node);

/* Their two halves: td_tensor_count_up returns the new version (0 for inference tensors), which
 * td_tensor_announce_write emits once it is known whose node the write is. */
uint32_t td_tensor_count_up(td_tensor *tensor, const char *operation);
void td_tensor_announce_write(const td_tensor *tensor, uint32_t version, const char *operation,
                              const td_node *node);

/* td_tensor_counter_id numbers the counter in events. */
uint32_t td_tensor_counter_id(const td_tensor *tensor);

/* td_version_set_stack sets the function that returns where the program is ("file.py:12", interned;
 * 0: unknown), for tensor_write. NULL: none. Set before the recording. */
void td_version_set_stack(uint32_t (*stack)(void));

/* td_version_stack returns what that function returns, 0 without one. */
uint32_t td_version_stack(void);
