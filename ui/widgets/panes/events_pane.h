/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of events, filtered, with the one at the playhead in view; a click goes to an event.
 * Main thread. */
#pragma once

#include "ui/model/playhead/brush.h"

#include <adwaita.h>

#define TD_TYPE_EVENTS_PANE (td_events_pane_get_type())
G_DECLARE_FINAL_TYPE(TdEventsPane, td_events_pane, TD, EVENTS_PANE, AdwBin)

/* td_events_pane_show_selected lists the events of the selected node alone. */
void td_events_pane_show_selected(TdEventsPane *self);

void td_events_pane_set_playhead(TdEventsPane *self, TdPlayhead *playhead);

/* td_events_pane_find puts the cursor where one types words to look for. */
void td_events_pane_find(TdEventsPane *self);

/* td_events_pane_set_brush lists only the events of a range of time, while there is one. */
void td_events_pane_set_brush(TdEventsPane *self, TdBrush *brush);
