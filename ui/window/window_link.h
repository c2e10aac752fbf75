/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Part of the window: a command that opens what the window shows. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_copy_link copies "tapedeck open FILE ..." with the moment, the selected node, the
 * layout and the page of the side pane. The name of the file is whole, so the command works in any
 * folder. */
void td_window_copy_link(TdWindow *window);
