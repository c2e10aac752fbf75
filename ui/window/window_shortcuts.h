/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window that lists all keys. Main thread only. */
#pragma once

#include <gtk/gtk.h>

typedef struct TdShortcuts TdShortcuts;

/* td_shortcuts_add_section begins a section, which one menu entry shows alone. Each window has one
 * at least. td_shortcuts_add_group begins a group of keys, td_shortcuts_add adds to the last group.
 * Titles are not yet translated. Of several accelerators with spaces between them, the first is
 * shown. */
TdShortcuts *td_shortcuts_new(void);
void td_shortcuts_add_section(TdShortcuts *shortcuts, const char *title);
void td_shortcuts_add_group(TdShortcuts *shortcuts, const char *title);
void td_shortcuts_add(TdShortcuts *shortcuts, const char *title, const char *keys);

/* td_shortcuts_add_widgets adds the keys that single widgets of a tape's window have,
 * td_shortcuts_add_graph those of a graph beside another. */
void td_shortcuts_add_widgets(TdShortcuts *shortcuts);
void td_shortcuts_add_graph(TdShortcuts *shortcuts);

/* td_shortcuts_show shows all, and takes them. */
void td_shortcuts_show(TdShortcuts *shortcuts, GtkWindow *parent);
