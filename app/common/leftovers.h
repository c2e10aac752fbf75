/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Leftovers: files and folders that nobody wants if a signal ends this process. Main thread. */
#pragma once

#include <glib.h>

/* td_leftovers_add notes a path: SIGHUP, SIGINT, SIGQUIT and SIGTERM will remove it before they end
 * the process. A file goes before the folder that was noted earlier. A signal that was ignored
 * stays so. There is room for 64 paths; a further one is not noted. td_leftovers_forget forgets the
 * path again. Copies the path. */
void td_leftovers_add(const char *path);
void td_leftovers_forget(const char *path);

/* td_leftovers_make_folder is g_dir_make_tmp for a folder that is noted. No signal comes between.
 */
char *td_leftovers_make_folder(const char *name, GError **error);
