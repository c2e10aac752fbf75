/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bar that moves the playhead: buttons, the position as a slider and in words, the speed. Main
 * thread. */
#pragma once

#include "ui/model/live/stop_list.h"
#include "ui/model/playhead/playhead.h"

#include <adwaita.h>

#define TD_TYPE_TRANSPORT (td_transport_get_type())
G_DECLARE_FINAL_TYPE(TdTransport, td_transport, TD, TRANSPORT, GtkBox)

void td_transport_set_playhead(TdTransport *self, TdPlayhead *playhead);

/* td_transport_set_stops gives it the list of stops, after the playhead. td_transport_show_stops
 * opens the list. */
void td_transport_set_stops(TdTransport *self, TdStopList *stops);
void td_transport_show_stops(TdTransport *self);
