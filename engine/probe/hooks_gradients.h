/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Gradients at level 2. hooks.py says where the memory of each gradient is; what is in it goes to
 * engine/probe/numerics.h. Each thread has a stack of evaluations. An error leaves an evaluation
 * there; the end of an outer one takes it away. Any thread that holds the GIL. Private to the
 * probe. */
#pragma once

#include "engine/probe/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One node's evaluation as the hook before it or after it sees it. */
typedef struct td_hooks_evaluation {
  uint32_t node, graph_task;
  bool is_root, is_leaf;
} td_hooks_evaluation;

/* td_hooks_gradients_begin: the node is about to run on these gradients. The arguments are memories
 * as memory_of() of hooks.py gives them. A leaf's last one is its .grad. */
void td_hooks_gradients_begin(const td_python *python, const td_hooks_evaluation *evaluation,
                              void *const *arguments, size_t n);

/* td_hooks_gradients_end: the node has returned these gradients. Before the memories come the
 * number of its edges, then two numbers for each edge. */
void td_hooks_gradients_end(const td_python *python, const td_hooks_evaluation *evaluation,
                            void *const *arguments, size_t n);
