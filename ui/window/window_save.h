/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Saves the backward pass of an event as one page of HTML, to send to somebody. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_save_pass asks where the page of an event's pass goes, and writes it in a process of
 * its own. */
void td_window_save_pass(TdWindow *window, uint64_t seq);
