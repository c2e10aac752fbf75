/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A small file of groups in the user's folders, which a person may have written into. Main
 * thread. */
#pragma once

#include <glib.h>

/* td_user_file_load returns the groups of a file; none if there is no such file. What it cannot
 * read becomes <path>.broken, in place of an older one, and there are no groups. NULL with an error
 * if even that fails: then the file should stay as it is. */
GKeyFile *td_user_file_load(const char *path, GError **error);

/* td_user_file_save writes the groups, and the folder if there is none. Without groups it removes
 * the file. */
gboolean td_user_file_save(GKeyFile *file, const char *path, GError **error);
