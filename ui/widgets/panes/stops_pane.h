/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of stops for a popover. Each row turns a stop on or off, says how often it hits and
 * takes it away. Below are an entry for a new stop and a menu of what one can stop on. Main thread.
 */
#pragma once

#include "ui/model/live/stop_list.h"

#include <gtk/gtk.h>

#define TD_TYPE_STOPS_PANE (td_stops_pane_get_type())
G_DECLARE_FINAL_TYPE(TdStopsPane, td_stops_pane, TD, STOPS_PANE, GtkBox)

/* td_stops_pane_set_stops is called once. The menu names the playhead's node. */
void td_stops_pane_set_stops(TdStopsPane *self, TdPlayhead *playhead, TdStopList *stops);
