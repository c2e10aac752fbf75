/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The desk's end of a live session over ssh. It starts a relay on the server
 * (app/session/remote/relay.h) and keeps a copy of the tape. It serves a window as a hub does: a
 * Unix socket in a folder of its own. The window is a process of its own. If the connection ends,
 * this end hangs up, and the window stays. Main thread. */
#pragma once

#include "app/common/announcer.h"
#include "app/session/remote_address.h"

/* td_remote_session_open shows the program in a window and waits until the window closes.
 * `arguments` are those of `tapedeck open`, without the address. The copy of the tape goes to
 * `output`, or to a temporary folder if that is NULL. Returns false if there was no window; else
 * *status is the window's. If the session ended before the program did, or there was no window, it
 * sets *problem to the reason (free it). */
bool td_remote_session_open(const td_remote_address *address, char **arguments, const char *output,
                            const td_announcer *announcer, int *status, char **problem);
