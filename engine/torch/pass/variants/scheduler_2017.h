/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedulers of PyTorch's first engines, in place of the engine's own: `tapedeck run
 * --scheduler 2017` and `2017-fifo`. The graph and the events are the same. The differences:
 *
 * - 2017 (October 2016): ready nodes are a stack. A node's dependencies are a Counter per output of
 *   its forward function: consumer -> uses. A node is ready if all its Counters are empty. It keeps
 *   gradients by reference and adds to them in place, even if somebody else holds them: the
 *   aliasing defect. It releases nothing.
 * - 2017-fifo (its successor): ready nodes are a first-in, first-out queue. Dependencies are a
 *   number per node. It copies a kept gradient before the first addition.
 *
 * Either belongs to one thread at a time, and knows one root and the CPU only. Results go to
 * leaves alone. It refuses the rest. Source: the two Python engines in the history of PyTorch. */
#pragma once

#include "engine/torch/pass/scheduler.h"

#include <stdint.h>

/* td_scheduler_set takes "engine" (the default), "2017" or "2017-fifo": not while a pass runs.
 * TD_INVALID for all else. td_scheduler_get returns the name. */
td_status td_scheduler_set(const char *name, td_error *error);
const char *td_scheduler_get(void);

/* td_scheduler_2017_each calls back for every use that is still counted: `uses` times `consumer`
 * takes the output of that number. In the order of visit; the caller's thread runs the pass. */
typedef void td_use_callback(td_node *node, uint32_t output_nr, td_node *consumer, uint32_t uses,
                             void *data);
void td_scheduler_2017_each(const td_graph_task *graph_task, td_use_callback *callback, void *data);
