/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The dialog in which somebody chooses a tape. Main thread. */
#pragma once

#include <gtk/gtk.h>

/* td_tape_chooser_show opens the dialog. It calls `chosen` if somebody chose a file. Title and
 * `accept` are translated already. */
void td_tape_chooser_show(GtkWindow *parent, const char *title, const char *accept,
                          void (*chosen)(GtkWindow *parent, const char *path));
