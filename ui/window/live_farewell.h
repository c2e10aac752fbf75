/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The question that a window asks before it leaves a program that it controls. Main thread. */
#pragma once

#include "ui/model/live/live_session.h"

#include <adwaita.h>

/* td_live_farewell_is_due tells whether the program still waits for what the window says. */
gboolean td_live_farewell_is_due(TdLiveSession *session);

/* td_live_farewell_ask asks whether the program runs on or ends. It does what the person chose, and
 * then calls `leave`. If the person stays, it does nothing. The window outlives the question. */
void td_live_farewell_ask(GtkWindow *window, TdLiveSession *session,
                          void (*leave)(GtkWindow *window));
