/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the sockets of this user's sessions are. A hub makes a folder in one of a few places.
 * Others look into all of them. Main thread. */
#pragma once

#include <glib.h>

/* td_session_places_dup returns the folders in which a hub may make its own, the best first. Some
 * may not exist. The caller frees them with g_strfreev. */
GStrv td_session_places_dup(void);

/* td_session_places_find returns the paths of the sockets in the session folders of one place. Only
 * folders of this user count. Nobody may answer at a path. The caller frees them with g_strfreev.
 */
GStrv td_session_places_find(const char *place);
