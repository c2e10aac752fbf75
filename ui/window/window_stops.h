/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Actions on stops: of the tape, and of a program that still runs. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_run_to_stop goes to the next stop on the tape. If the tape has no further one and its
 * program waits, the program runs on, as with td_window_continue. */
void td_window_run_to_stop(TdWindow *window);
void td_window_back_to_stop(TdWindow *window);
void td_window_continue(TdWindow *window);

/* td_window_stop_here sets a stop at the selected node; a second time takes it away. */
void td_window_stop_here(TdWindow *window);

void td_window_show_stops(TdWindow *window);
