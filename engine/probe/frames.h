/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The calling thread's Python stack as an interned text, in microseconds. All want the GIL. */
#pragma once

#include "engine/probe/python.h"

/* td_frames_text returns the number of the stack's text, 0 where no Python function runs. A frame
 * is a line, `FILE:LINE FUNCTION`, the innermost last; of deep stacks the innermost frames. */
uint32_t td_frames_text(const td_python *python);
