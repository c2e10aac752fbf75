/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list under the live bar's menu of threads: the program's threads, each with buttons to hold
 * it and to step it alone. Main thread. */
#pragma once

#include "ui/model/live/live_session.h"
#include "ui/model/playhead/playhead.h"

#include <gtk/gtk.h>

#define TD_TYPE_THREAD_LIST (td_thread_list_get_type())
G_DECLARE_FINAL_TYPE(TdThreadList, td_thread_list, TD, THREAD_LIST, GtkBox)

void td_thread_list_set_playhead(TdThreadList *self, TdPlayhead *playhead);
void td_thread_list_set_session(TdThreadList *self, TdLiveSession *session);

/* td_live_dup_thread_name returns what the tape calls a thread, or its number. */
char *td_live_dup_thread_name(TdPlayhead *playhead, uint32_t thread);
