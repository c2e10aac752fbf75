/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The display, for programs that show the window. Main thread. */
#pragma once

#include <stdbool.h>

/* td_display_open connects to the display. Returns false if there is none. Call it before any other
 * function of GTK. */
bool td_display_open(void);
