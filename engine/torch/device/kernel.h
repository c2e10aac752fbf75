/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels: what happens at a launch (engine/torch/tensor/launch.h). A kernel goes to the current
 * stream of its device. A copy between accelerators runs on the source's device, and the two
 * streams wait for each other, as in PyTorch. The host waits for a kernel that touches more of the
 * host's memory than a number. Any thread. */
#pragma once

#include "engine/torch/tensor/launch.h"

/* td_kernel_launch is for td_accelerators_now. */
bool td_kernel_launch(const td_kernel_call *call);

/* td_conflict_take returns the text of the oldest conflict of streams that nobody has taken yet, or
 * NULL. See Note [Missing waits] in memory.h. The caller frees. Any thread. */
char *td_conflict_take(void);
