/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels: what happens at a launch (engine/tensor/launch.h). A kernel goes to the current stream
 * of its device: of the source's, where it copies from one accelerator to another, whose streams
 * then wait for each other, as PyTorch has it. One that touches more of the host's memory than a
 * number is waited for. Private to engine/device but for td_conflict_take. Any thread. */
#pragma once

#include "engine/tensor/launch.h"

/* For td_accelerators_now. */
bool td_kernel_launch(const td_kernel_call *call);

/* td_conflict_take returns the text of the oldest conflict of streams that nobody was told of yet
 * (Note [Missing waits]), NULL where there is none. The caller frees. Any thread. */
char *td_conflict_take(void);
