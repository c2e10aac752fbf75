/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A window on a program that still runs: holds its session, and reads the tape again each time the
 * program has stopped or ended, in the background and without moving what is looked at. Main
 * thread. */
#pragma once

#include "app/window.h"
#include "ui/model/live_session.h"

typedef struct TdWindowLive TdWindowLive;

/* td_window_live_new joins the session at `path` and shows the tape of one of its processes. NULL
 * where it is over already: the tape is shown as any other. */
TdWindowLive *td_window_live_new(TdWindow *window, const char *path, guint32 process,
                                 const char *tape);

/* td_window_live_free leaves the session, which lets the program go. */
void td_window_live_free(TdWindowLive *self);

TdLiveSession *td_window_live_get_session(TdWindowLive *self);

/* td_window_live_is_reading tells whether the tape is being read again. */
gboolean td_window_live_is_reading(TdWindowLive *self);
