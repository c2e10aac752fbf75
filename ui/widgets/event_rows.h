/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The row of an event list: its number and what the event says. The panes that list events share
 * it. Main thread. */
#pragma once

#include "ui/model/event_list.h"

#include <gtk/gtk.h>

/* td_event_rows_new returns a factory for rows of TdEventItem, with the whole text or two lines of
 * it. */
GtkListItemFactory *td_event_rows_new(gboolean whole);

/* td_event_rows_show gives a list view a new model, taking `events`. */
void td_event_rows_show(GtkListView *view, TdEventList *events);

/* td_event_rows_follow selects the row of the last event not after `seq` (none for UINT64_MAX) and
 * scrolls to it. */
void td_event_rows_follow(GtkListView *view, uint64_t seq);

/* td_event_rows_activated returns the event number of an activated row. */
uint64_t td_event_rows_activated(GtkListView *view, guint row);
