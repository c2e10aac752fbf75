/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From a window to another one that shows its tape beside another tape, or two of its passes.
 * Main thread. */
#pragma once

#include "ui/window/compare_window.h"
#include "ui/window/window.h"

/* td_window_compare opens the window of two tapes, and returns it. */
TdCompareWindow *td_window_compare(TdWindow *window, const TdAlignmentWish *wish);

/* td_window_compare_at shows two passes of the window's tape, with the first one at an event and a
 * node. */
void td_window_compare_at(TdWindow *window, const uint32_t passes[2], uint64_t seq, uint32_t node);

/* td_window_compare_tape lets the person choose the other tape. */
void td_window_compare_tape(TdWindow *window);

/* td_window_compare_passes lets the person choose two passes of the tape. */
void td_window_compare_passes(TdWindow *window);
