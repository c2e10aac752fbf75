/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The About window. Main thread. */
#pragma once

#include <gtk/gtk.h>

void td_about_show(GtkWindow *parent);
