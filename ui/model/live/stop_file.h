/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where stops are kept between runs: one file in the user's config folder, with the stops of each
 * tape under its path. Whoever records to the same path again keeps the stops. Losing the file is
 * harmless. Main thread. */
#pragma once

#include <gio/gio.h>

/* td_stop_file_read appends the TdStop of a tape to a store. td_stop_file_write keeps those of a
 * list; an empty list is forgotten. A file that nobody can read is put aside (user_file.h). */
void td_stop_file_read(const char *tape, GListStore *stops);
gboolean td_stop_file_write(const char *tape, GListModel *stops, GError **error);
