/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/drag.h"
#include "app/bench/walk.h"
#include "app/command.h"
#include "ui/window/window_request.h"

#include <glib.h>

#define NO_WINDOW "it is not installed: it needs GTK 4, and Debian's package is tapedeck-window"

int
td_window_run(const TdWindowRequest *request) {
  return td_command_fail("no window", "%s; `tapedeck --help` lists what works without it",
                         NO_WINDOW);
}

int
td_window_leave(int status) {
  return status;
}

char *
td_drag_slider(const char *path, int n_frames, td_drag *drag) {
  return g_strdup("no window: " NO_WINDOW);
}

char *
td_walk_window(const char *path, void (*walked)(const td_walked *walked)) {
  return g_strdup("no window: " NO_WINDOW);
}
