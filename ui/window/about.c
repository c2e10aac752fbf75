/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/about.h"

#include <adwaita.h>
#include <glib/gi18n.h>

void
td_about_show(GtkWindow *parent) {
  adw_show_about_window(
      parent, "application-name", "Tapedeck", "application-icon", "org.tapedeck.Tapedeck",
      "version", TD_VERSION, "developer-name", _("The Tapedeck authors"), "comments",
      _("Play, pause and rewind a backward pass."), "license-type", GTK_LICENSE_LGPL_2_1, NULL);
}
