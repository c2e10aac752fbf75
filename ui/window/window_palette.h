/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command palette of a window. Main thread. */
#pragma once

#include "ui/window/window.h"

/* td_window_palette_add gives a window its palette. Call it once for a window. */
void td_window_palette_add(TdWindow *window);

/* td_window_palette_clear forgets the actions. td_window_palette_offer offers "win.<name>", with a
 * translated title and its accelerators or NULL. td_window_palette_open shows the palette. */
void td_window_palette_clear(TdWindow *window);
void td_window_palette_offer(TdWindow *window, const char *name, const char *title,
                             const char *keys);
void td_window_palette_open(TdWindow *window);
