/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/exit.h"
#include "app/common/shell_name.h"
#include "ui/model/base/worker.h"
#include "ui/window/compare_actions.h"
#include "ui/window/config.h"
#include "ui/window/display.h"
#include "ui/window/preferences.h"
#include "ui/window/screenshot.h"
#include "ui/window/settled.h"
#include "ui/window/window.h"
#include "ui/window/window_actions.h"
#include "ui/window/window_lesson.h"
#include "ui/window/window_request.h"

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

/* Once: for the tape of the request. */
static void
choose_range(TdPlayhead *playhead, GParamSpec *property, gpointer data) {
  TdWindow *window = data;
  const TdWindowRequest *request = g_object_get_data(G_OBJECT(window), "request");
  TdDocument *document = td_playhead_get_document(playhead);
  if (!document) return;
  g_signal_handlers_disconnect_by_func(playhead, choose_range, window);
  if (request->from_ns > td_document_get_info(document)->duration_ns)
    td_window_say(window, _("The tape ends before this range of time"));
  else
    td_brush_set(td_tape_view_get_brush(td_window_get_tape_view(window)), (double)request->from_ns,
                 (double)request->to_ns);
}

static void
apply_request(TdWindow *window, const TdWindowRequest *request) {
  td_tape_view_set_overlay(td_window_get_tape_view(window), request->overlay);
  for (TdLayout layout = 0; request->layout && layout < TD_N_LAYOUTS; layout++)
    if (strcmp(request->layout, td_layout_name(layout)) == 0)
      td_tape_view_set_layout(td_window_get_tape_view(window), layout);
  if (request->page) td_tape_view_show_page(td_window_get_tape_view(window), request->page);
  if (request->has_range) {
    g_object_set_data(G_OBJECT(window), "request", (gpointer)request);
    g_signal_connect_object(td_window_get_playhead(window), "notify::document",
                            G_CALLBACK(choose_range), window, 0);
  }
  if (request->lesson) td_window_take_lesson(window, request->lesson);
  if (request->path && request->session)
    td_window_attach(window, request->session, (guint32)request->process, request->path,
                     request->remote);
  else if (request->path)
    td_window_open_at(window, request->path,
                      td_moment_options_given(&request->moment) ? find_position : NULL,
                      (gpointer)request, request->node >= 0 ? (guint64)request->node : G_MAXUINT64);
}

static gboolean
is_settled(GtkWindow *window) {
  return td_window_is_settled(TD_WINDOW(window));
}

static void
show(GtkWindow *window, const TdWindowRequest *request, gboolean (*settled)(GtkWindow *window)) {
  if (request->width > 0) gtk_window_set_default_size(window, request->width, request->height);
  if (request->screenshot) td_screenshot_when_settled(window, settled, request->screenshot);
  gtk_window_present(window);
}

static void
apply_look(const TdWindowRequest *request) {
  if (request->dark)
    adw_style_manager_set_color_scheme(adw_style_manager_get_default(),
                                       ADW_COLOR_SCHEME_FORCE_DARK);
  if (request->screenshot) hold_still();
}

static void
compare(AdwApplication *application, const TdWindowRequest *request) {
  TdConfig *config = td_config_load();
  gboolean passes = request->beside_pass != TD_MOMENT_NO_PASS;
  const TdAlignmentWish wish = {
      .path = {request->path, request->beside ? request->beside : request->path},
      .passes = passes,
      .graph_task = {(uint32_t)request->moment.pass, (uint32_t)request->beside_pass}};
  td_preferences_apply(config);
  td_config_free(config);
  apply_look(request);
  gboolean finds = td_moment_options_given(&request->moment);
  TdCompareWindow *window = td_compare_window_new(GTK_APPLICATION(application), &wish,
                                                  finds ? find_position : NULL, (gpointer)request);
  td_compare_actions_install(window);
  show(GTK_WINDOW(window), request, td_compare_window_is_settled);
}

static void
activated(AdwApplication *application, gpointer data) {
  const TdWindowRequest *request = data;
  if (request->beside || request->beside_pass != TD_MOMENT_NO_PASS) {
    compare(application, request);
    return;
  }
  TdWindow *window = td_window_new(application); /* it takes the preferences */
  apply_look(request);
  td_window_actions_install(window);
  apply_request(window, request);
  show(GTK_WINDOW(window), request, is_settled);
}

static int
fail_without_display(const char *path) {
  if (!path) return td_command_fail("no display", "try `tapedeck examples` or `tapedeck --help`");
  g_autofree char *name = td_shell_name(path);
  return td_command_fail(
      "no display", "try `tapedeck info %s` or `tapedeck render %s --view overview -o picture.png`",
      name, name);
}

int
td_window_run(const TdWindowRequest *request) {
  if (!td_display_open()) return fail_without_display(request->path);
  g_autoptr(AdwApplication) application =
      adw_application_new("org.tapedeck.Tapedeck", G_APPLICATION_NON_UNIQUE);
  g_application_set_resource_base_path(G_APPLICATION(application), "/org/tapedeck/Tapedeck");
  g_signal_connect(application, "activate", G_CALLBACK(activated), (gpointer)request);
  g_set_application_name("Tapedeck");
  td_settled_tell();
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
