/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* td_shell_name returns the name of a file as one types it in a shell. It is relative if the file
 * is below the current folder, and quoted if the shell needs that. Free it. Any thread. */
char *td_shell_name(const char *path);
