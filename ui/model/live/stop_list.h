/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one list of stops, for a tape and for the program that writes it: a GListModel of TdStop. It
 * belongs to the tape of a playhead's document, and is kept for the next time (stop_file.h). If
 * that fails, the playhead says so. Where a program is stopped, the list tells the program's gate
 * what the gate knows. Main thread. */
#pragma once

#include "ui/model/live/live_session.h"
#include "ui/model/live/stop.h"
#include "ui/model/playhead/playhead.h"

#define TD_TYPE_STOP_LIST (td_stop_list_get_type())
G_DECLARE_FINAL_TYPE(TdStopList, td_stop_list, TD, STOP_LIST, GObject)

/* td_stop_list_new returns the list for a playhead. Signal "changed": a stop came, went, or was
 * turned on or off. */
TdStopList *td_stop_list_new(TdPlayhead *playhead);

/* td_stop_list_set_session takes the session of a program, or NULL. What the program stops on
 * already joins the list, as far as there is room. */
void td_stop_list_set_session(TdStopList *self, TdLiveSession *session);

/* td_stop_list_add adds a condition, and turns it on if it is there already. FALSE with an error of
 * TD_ERROR if nobody can read it. */
gboolean td_stop_list_add(TdStopList *self, const char *text, GError **error);
void td_stop_list_remove(TdStopList *self, TdStop *stop);

/* td_stop_list_find returns the stop of a condition, borrowed, or NULL. td_stop_list_is_on tells
 * whether it is there and on; td_stop_list_set makes it so. */
TdStop *td_stop_list_find(TdStopList *self, const char *text);
gboolean td_stop_list_is_on(TdStopList *self, const char *text);
void td_stop_list_set(TdStopList *self, const char *text, gboolean on);

/* td_stop_list_get_nodes returns the nodes of the playhead's document at which a stop that is on
 * will stop, sorted. Borrowed until "changed". */
const uint32_t *td_stop_list_get_nodes(TdStopList *self, guint *n);

/* td_stop_list_dup_texts returns the conditions of the stops that are on, or of all. The caller
 * frees. */
GStrv td_stop_list_dup_texts(TdStopList *self, gboolean all);

/* td_stop_list_get_note says what the program of the session does not know of a stop, or NULL. */
const char *td_stop_list_get_note(TdStopList *self, TdStop *stop);
