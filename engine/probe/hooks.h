/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Level 2: the hooks that PyTorch's Python API offers, for versions that the engine probe does not
 * know and machines without a compiler. hooks.py walks the graph of each call of backward and
 * hangs hooks on its nodes; what they see goes to engine/probe/calls.h. The gradients are the same
 * to the bit, and when a pass is over its hooks are gone. */
#pragma once

#include "engine/probe/probe.h"

/* td_hooks_observer returns what stands in for an observer. */
const td_observer *td_hooks_observer(void);

/* What hears of calls of backward: td_probe_begin, td_probe_pass_begin and td_probe_pass_end. */
typedef struct td_hooks_listener {
  void (*begin)(void);
  td_pass_ticket (*pass_begin)(void);
  void (*pass_end)(td_pass_ticket ticket);
} td_hooks_listener;

/* td_hooks_start runs hooks.py in the target. `sequence_nr` is at::sequence_number::peek, or NULL;
 * `listener` (borrowed) stays. Returns NULL, or in words why nothing can be hooked (the caller
 * frees). Any thread that holds no lock but perhaps the GIL, which it takes. */
char *td_hooks_start(uint64_t (*sequence_nr)(void), const td_hooks_listener *listener);
