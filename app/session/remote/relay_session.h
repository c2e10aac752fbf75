/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finds the session of a program for a relay. Main thread. */
#pragma once

#include <glib.h>

/* td_relay_session_connect connects to the hub that records a program of this user. It sets *pid to
 * the recorded process, which may be one that *pid has started. If there is none, it returns -1 and
 * sets *problem to the reason (free it). */
int td_relay_session_connect(guint32 *pid, char **problem);
