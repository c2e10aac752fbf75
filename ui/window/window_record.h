/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recording a program from the window: it asks which, runs it and opens its tape. Main thread. */
#pragma once

#include "ui/window/window.h"

void td_window_ask_program(TdWindow *window);

/* td_window_ask_again asks for the program of the window's tape, to look for NaN and Inf. */
void td_window_ask_again(TdWindow *window);
