/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keys of a window's actions. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* (borrowed from the window) Some keys go before the focused widget, others after it. */
typedef struct TdWindowKeys {
  GtkShortcutController *first, *last;
} TdWindowKeys;

TdWindowKeys td_window_keys_new(GtkWidget *window);

/* td_window_keys_add gives the action "win.<action>" its keys: accelerators, separated by spaces. A
 * key that works everywhere does so unless the focused widget needs it itself. `action` must live
 * as long as the window. */
void td_window_keys_add(const TdWindowKeys *self, const char *action, const char *keys,
                        gboolean everywhere);

/* td_window_keys_dup_label returns the first of the keys as people read it, or NULL for NULL. */
char *td_window_keys_dup_label(const char *keys);

/* td_window_keys_name_button gives a button of an action its tooltip, with the first of the keys,
 * and a name for screen readers. The title is translated already; `keys` may be NULL. */
void td_window_keys_name_button(GtkWidget *button, const char *title, const char *keys);
