/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/live_farewell.h"

#include <glib/gi18n.h>

#define ASKED "td-farewell" /* of the window, while the question is open */

typedef struct Farewell {
  TdLiveSession *session; /* (owned) */
  GtkWindow *window;      /* (owned) */
  void (*leave)(GtkWindow *window);
} Farewell;

static void
farewell_free(gpointer data, GClosure *closure) {
  g_object_unref(((Farewell *)data)->session);
  g_object_unref(((Farewell *)data)->window);
  g_free(data);
}

/* A window that leaves once its dialog is closed: the dialog still looks at it. */
typedef struct Leave {
  GtkWindow *window; /* (owned) */
  void (*leave)(GtkWindow *window);
} Leave;

static gboolean
leave_window(gpointer data) {
  Leave *self = data;
  self->leave(self->window);
  return G_SOURCE_REMOVE;
}

static void
leave_free(gpointer data) {
  g_object_unref(((Leave *)data)->window);
  g_free(data);
}

gboolean
td_live_farewell_is_due(TdLiveSession *session) {
  TdLiveState state = session ? td_live_session_get_state(session) : TD_LIVE_ENDED;
  return state == TD_LIVE_STOPPED || state == TD_LIVE_RUNNING;
}

static void
answered(AdwMessageDialog *dialog, const char *response, gpointer data) {
  const Farewell *self = data;
  GtkWindow *window = self->window;
  g_object_set_data(G_OBJECT(window), ASKED, NULL);
  if (strcmp(response, "stay") == 0) return;
  if (strcmp(response, "end") == 0) td_live_session_interrupt(self->session);
  Leave *leave = g_new0(Leave, 1);
  *leave = (Leave){g_object_ref(window), self->leave};
  g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, leave_window, leave, leave_free);
}

void
td_live_farewell_ask(GtkWindow *window, TdLiveSession *session, void (*leave)(GtkWindow *window)) {
  if (g_object_get_data(G_OBJECT(window), ASKED)) return;
  g_object_set_data(G_OBJECT(window), ASKED, window);
  Farewell *self = g_new0(Farewell, 1);
  *self = (Farewell){g_object_ref(session), g_object_ref(window), leave};
  GtkWidget *widget =
      adw_message_dialog_new(window, _("The Program Still Runs"),
                             _("The program can run on without this window, and Tapedeck goes on "
                               "recording it. Or the program ends now, as after Ctrl+C."));
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG(widget);
  adw_message_dialog_add_responses(dialog, "stay", _("_Cancel"), "end", _("_End the Program"),
                                   "run", _("_Let It Run On"), NULL);
  adw_message_dialog_set_response_appearance(dialog, "end", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance(dialog, "run", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response(dialog, "run");
  adw_message_dialog_set_close_response(dialog, "stay");
  g_signal_connect_data(dialog, "response", G_CALLBACK(answered), self, farewell_free, 0);
  gtk_window_present(GTK_WINDOW(dialog));
}
