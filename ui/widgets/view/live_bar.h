/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar over a tape whose program still runs. It says where the program stopped. Its buttons let
 * the program go on; its two menus show what the program stops on, and the threads. Without a
 * session the bar is hidden. Main thread. */
#pragma once

#include "ui/model/live/live_session.h"
#include "ui/model/live/stop_list.h"
#include "ui/model/playhead/playhead.h"

#include <gtk/gtk.h>

#define TD_TYPE_LIVE_BAR (td_live_bar_get_type())
G_DECLARE_FINAL_TYPE(TdLiveBar, td_live_bar, TD, LIVE_BAR, GtkBox)

void td_live_bar_set_playhead(TdLiveBar *self, TdPlayhead *playhead);

/* td_live_bar_set_stops gives it the list of stops, after the playhead. */
void td_live_bar_set_stops(TdLiveBar *self, TdStopList *stops);

/* td_live_bar_set_session shows a session, or none for NULL. */
void td_live_bar_set_session(TdLiveBar *self, TdLiveSession *session);
