/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Passes in the children of forks: Note [Fork]. Private to engine/torch/pass.
 *
 * Note [Fork]
 * A child has none of its parent's threads, so a pass that counted on them would wait for ever.
 * Since PyTorch 1.13 a child may run passes if its parent had no thread to run them with. Before
 * (policy fork_after_cpu off), it may not if the parent had run any pass. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>

/* td_fork_forbid makes every pass in children of later forks an error; called before the engine
 * starts a thread. Any thread, any number of times. */
void td_fork_forbid(void);

/* td_fork_is_child tells whether this process is such a child. */
bool td_fork_is_child(void);
