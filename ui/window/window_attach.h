/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Attaching the window to a program that is being recorded already. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_ask_running lists the programs and attaches to the one that the person chooses. The
 * window leaves what it shows then. */
void td_window_ask_running(TdWindow *window);
