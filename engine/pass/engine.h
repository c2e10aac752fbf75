/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Engine: runs backward passes, one engine per process. Any thread may call td_engine_execute;
 * it becomes the CPU worker of its own pass, and the engine's device threads run what belongs to
 * their devices. */
#pragma once

#include "engine/graph/node.h"

/* td_engine_set_guard sets who is asked before every pass whether the caller may wait for one
 * (NULL: nobody is): the embedding language, whose lock nodes may need. Before the first pass. */
void td_engine_set_guard(td_status (*guard)(td_error *error));

typedef struct td_execute_options {
  bool keep_graph, create_graph, accumulate_grad;
  const td_edge *outputs; /* gradients wanted there alone (borrowed nodes), or NULL: everywhere */
  uint32_t n_outputs;
} td_execute_options;

/* td_engine_execute runs one backward pass from roots[i], fed with root_gradients[i] (all defined,
 * borrowed), and returns when it is complete. With !accumulate_grad, captured[0 .. n_outputs)
 * receive new references (or NULL where no gradient came). TD_AUTOGRAD, TD_ANOMALY, TD_SHAPE, ...
 * with PyTorch's text; the first error of the pass wins, and the engine is usable afterwards. The
 * caller must not hold locks that nodes need (in Python: release the GIL). */
td_status td_engine_execute(const td_edge *roots, td_tensor *const *root_gradients,
                            uint32_t n_roots, const td_execute_options *options,
                            td_tensor **captured, td_error *error);

/* td_engine_stop ends the device threads, if nothing is queued for them, and waits for that, at
 * most 10 seconds or as many as the environment's TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT says (0:
 * threads are left alone). Once; passes afterwards run on their callers' threads. The caller must
 * not hold the GIL, which a thread may need to end. */
void td_engine_stop(void);
