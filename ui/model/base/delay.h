/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Delays: work of the window that waits a moment, so that many changes in a row cost it once. It
 * may come earlier without harm. Main thread. */
#pragma once

#include <gio/gio.h>

/* td_delay_add is g_timeout_add, and counts until the source goes. */
guint td_delay_add(guint ms, GSourceFunc work, gpointer data);

/* td_delay_is_pending says whether work waits. td_delay_hurry lets all that waits come now. */
gboolean td_delay_is_pending(void);
void td_delay_hurry(void);
