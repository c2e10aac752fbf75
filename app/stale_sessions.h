/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What sessions leave behind that were killed: a folder with a socket that nobody answers. */
#pragma once

/* td_stale_sessions_remove removes this user's dead sessions from a folder where the hub makes its
 * own. A session that may be about to begin is left alone. */
void td_stale_sessions_remove(const char *base);
