/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Engine: runs backward passes, one engine per process. Any thread may call td_engine_execute;
 * it becomes the CPU worker of its own pass, and the engine's device threads run what belongs to
 * their devices. */
#pragma once

#include "engine/torch/pass/execute_options.h"
#include "engine/torch/tensor/tensor.h"

/* td_engine_set_guard sets a function that may refuse a pass before it begins; NULL: none. The
 * embedding language refuses a caller that holds its lock, because nodes may need that lock. Set
 * before the first pass. */
void td_engine_set_guard(td_status (*guard)(td_error *error));

/* td_engine_execute runs one backward pass from roots[i], fed with root_gradients[i] (all defined,
 * borrowed), and returns when it is complete. With !accumulate_grad, captured[0 .. n_outputs)
 * receive new references, or NULL if no gradient came. TD_AUTOGRAD, TD_ANOMALY, TD_SHAPE, ...
 * with PyTorch's text; the first error of the pass wins, and the engine is usable afterwards. The
 * caller must not hold locks that nodes need (in Python: release the GIL). */
td_status td_engine_execute(const td_edge *roots, td_tensor *const *root_gradients,
                            uint32_t n_roots, const td_execute_options *options,
                            td_tensor **captured, td_error *error);
