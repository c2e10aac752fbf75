/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Inference mode: what is made in it has no history and no version, and never will. */
#pragma once

#include <stdbool.h>

/* td_inference_mode_enter sets the calling thread's mode (tensor.h), which its backward passes take
 * along to other threads. */
void td_inference_mode_enter(bool enabled);
