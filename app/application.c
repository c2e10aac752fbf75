/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/display.h"
#include "app/screenshot.h"
#include "app/window.h"
#include "app/window_actions.h"
#include "app/window_request.h"
#include "ui/model/worker.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <stdio.h>
#include <stdlib.h>

static gboolean is_refused; /* the tape lacks the moment */

static void
hold_still(void) {
  g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, "gtk-cursor-blink",
               FALSE, NULL);
}

/* In the worker that loads the tape. */
static gboolean
find_position(td_tape *tape, const td_catalog *whole, gpointer data, uint64_t *position) {
  const TdWindowRequest *request = data;
  g_autofree char *how = NULL;
  uint64_t seq;
  is_refused = !td_moment_find(tape, whole, &request->moment, &seq, &how);
  if (!is_refused) *position = seq + 1;
  return !is_refused;
}

static void
apply_request(TdWindow *window, const TdWindowRequest *request) {
  if (request->width > 0)
    gtk_window_set_default_size(GTK_WINDOW(window), request->width, request->height);
  td_tape_view_set_overlay(td_window_get_tape_view(window), request->overlay);
  if (request->page) td_tape_view_show_page(td_window_get_tape_view(window), request->page);
  if (request->path && request->session)
    td_window_attach(window, request->session, (guint32)request->process, request->path);
  else if (request->path)
    td_window_open_at(window, request->path,
                      td_moment_options_given(&request->moment) ? find_position : NULL,
                      (gpointer)request, request->node >= 0 ? (guint64)request->node : G_MAXUINT64);
}

static void
activated(AdwApplication *application, gpointer data) {
  const TdWindowRequest *request = data;
  if (request->dark)
    adw_style_manager_set_color_scheme(adw_style_manager_get_default(),
                                       ADW_COLOR_SCHEME_FORCE_DARK);
  if (request->screenshot) hold_still();
  TdWindow *window = td_window_new(application);
  td_window_actions_install(window);
  apply_request(window, request);
  if (request->screenshot) td_screenshot_when_settled(window, request);
  gtk_window_present(GTK_WINDOW(window));
}

int
td_window_run(const TdWindowRequest *request) {
  if (!td_display_open())
    return td_command_fail(
        "no display",
        request->path
            ? "try `tapedeck info %s` or `tapedeck render %s --view overview -o picture.png`"
            : "try `tapedeck examples` or `tapedeck --help`",
        request->path, request->path);
  g_autoptr(AdwApplication) application =
      adw_application_new("org.tapedeck.Tapedeck", G_APPLICATION_NON_UNIQUE);
  g_application_set_resource_base_path(G_APPLICATION(application), "/org/tapedeck/Tapedeck");
  g_signal_connect(application, "activate", G_CALLBACK(activated), (gpointer)request);
  g_set_application_name("Tapedeck");
  int status = g_application_run(G_APPLICATION(application), 0, NULL);
  if (is_refused) return TD_EXIT_USAGE;
  return status ? status : td_screenshot_status();
}

int
td_window_leave(int status) {
  if (!td_worker_is_busy()) return status;
  fflush(NULL);
  quick_exit(status); /* nobody waits for the workers of a window that is gone */
}
