/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window that lists all keys. Main thread only. */
#pragma once

#include <gtk/gtk.h>

/* td_shortcuts_add_group begins a group of keys, td_shortcuts_add adds to the last group. Titles
 * are not yet translated. Of several accelerators with spaces between them, the first is shown. */
GString *td_shortcuts_new(void);
void td_shortcuts_add_group(GString *shortcuts, const char *title);
void td_shortcuts_add(GString *shortcuts, const char *title, const char *keys);

/* td_shortcuts_show adds the keys that single widgets have, shows all, and takes the text. */
void td_shortcuts_show(GString *shortcuts, GtkWindow *parent);
