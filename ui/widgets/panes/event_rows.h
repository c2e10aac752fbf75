/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The row of an event list: its number and what the event says. The panes that list events share
 * it. Main thread. */
#pragma once

#include "ui/model/events/event_list.h"

#include <gtk/gtk.h>

/* td_event_rows_new returns a factory for rows of TdEventItem, with the whole text or two lines of
 * it. */
GtkListItemFactory *td_event_rows_new(gboolean whole);

/* td_event_rows_clear takes the model from a list view. td_event_rows_show gives it a new one,
 * taking `events`. If a row had the focus, td_event_rows_follow gives it to a row of the new one.
 */
void td_event_rows_clear(GtkListView *view);
void td_event_rows_show(GtkListView *view, TdEventList *events);

/* td_event_rows_follow selects the row of the last event not after `seq` (none for UINT64_MAX) and
 * scrolls to it. */
void td_event_rows_follow(GtkListView *view, uint64_t seq);

/* td_event_rows_beside returns the number of the event that is listed `by` rows below a position,
 * or above if negative; UINT64_MAX if the list is empty. */
uint64_t td_event_rows_beside(GtkListView *view, uint64_t position, int by);

/* td_event_rows_dup_text returns the number of an event and its sentence, to copy; the caller
 * frees. */
char *td_event_rows_dup_text(gpointer item, gpointer data);

/* td_event_rows_activated returns the event number of an activated row. */
uint64_t td_event_rows_activated(GtkListView *view, guint row);
