/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What killed sessions leave behind: a folder with a socket that nobody answers. */
#pragma once

/* td_stale_sessions_remove removes this user's dead sessions from `base`, the folder where hubs
 * make theirs. It leaves a session alone that may be about to begin. */
void td_stale_sessions_remove(const char *base);
